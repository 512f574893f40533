/** What ids look like. */

/** A rule's, within its company. */
export const relayIdPattern = /^\d{1,32}$/;
export const relayIdRule = 'must be 1 to 32 digits';
export const companyIdPattern = /^[\w-]{1,64}$/;
