/** The credentials that the simulators accept. */

export const basicAuth = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** `expiresAt` is in Unix milliseconds. */
export type Token = { access: string; refresh?: string; scope?: string; expiresAt: number };

/** The token in the header `Authorization`, if the token has not ended. */
export const tokenIn = (tokens: Token[], authorization?: string) =>
  tokens.find(({ access, expiresAt }) => authorization === `Bearer ${access}` && expiresAt > Date.now());
