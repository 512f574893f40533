/** The kinds of outside systems that a company connects. */

export const connectors = ['platform', 'ticketing', 'mail'] as const;
export type Connector = (typeof connectors)[number];
