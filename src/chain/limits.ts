/**
 * 366 days, in seconds: the longest delay of an action. Part of the replay contract, since it decides whether a `reschedule` is
 * obeyed.
 */
export const maxDelaySeconds = 366 * 24 * 3600;
