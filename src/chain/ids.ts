/** What ids look like. */

/** A rule's id, within its company. */
export const relayIdPattern = /^\d{1,32}$/;
export const relayIdRule = 'must be 1 to 32 digits';
export const companyIdPattern = /^[A-Za-z0-9_-]{1,64}$/;
