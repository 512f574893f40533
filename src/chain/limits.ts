/** 366 days, in seconds: the longest delay. Part of the replay contract, since it decides whether a `reschedule` counts. */
export const maxDelaySeconds = 366 * 24 * 3600;
