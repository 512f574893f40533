/** 366 days, in seconds: the longest delay, reschedule and grace. Decides whether a signal counts: part of the replay contract. */
export const longestSeconds = 366 * 24 * 3600;
