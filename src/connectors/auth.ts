/** From a company's auth settings to request headers. */

import type { Auth } from '../contract/company.js';

export type BasicAuth = Extract<Auth, { type: 'basic' }>;

/** @returns header names in lower case, and every text that must not appear in a message. */
export function credentialsOf(auth: Auth | undefined): { headers: Record<string, string>; secrets: string[] } {
  switch (auth?.type) {
    case undefined:
      return { headers: {}, secrets: [] };
    case 'bearer':
      return { headers: { authorization: `Bearer ${auth.token}` }, secrets: [auth.token] };
    case 'basic': {
      const encoded = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
      return { headers: { authorization: `Basic ${encoded}` }, secrets: [encoded, auth.username, auth.password] };
    }
    case 'headers': {
      const headers = Object.entries(auth.headers).map(([name, value]) => [name.toLowerCase(), value]);
      return { headers: Object.fromEntries(headers), secrets: Object.values(auth.headers) };
    }
  }
}

/** The user and password of a URL such as `https://user:password@host/`, as basic auth. */
export function authIn(url: URL): BasicAuth | undefined {
  if (url.username === '' && url.password === '') return undefined;
  return { type: 'basic', username: percentDecoded(url.username), password: percentDecoded(url.password) };
}

/** The text itself where it is not percent-encoded properly: then a bare `%` was meant. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
