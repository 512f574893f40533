/** Where the API is, and what opens it: from `--url` and the environment. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './terminal.js';

export interface Address {
  /** Without a slash at the end. */
  url: string;
  /** Whether it is this machine. */
  loopback: boolean;
  credential?: Credential;
}

interface Credential {
  /** The admin token or a company's key. */
  bearer: string;
  /** What to name when it is refused. */
  from: string;
  kind: 'admin' | 'key';
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `--url`, RELAY_URL, or this machine at PORT. The bearer is RELAY_ADMIN_TOKEN, RELAY_KEY, or, for a relay on this machine, what
 * `npm start` keeps in its data directory.
 * @throws UsageError that never shows what it was given.
 */
export function readAddress(given: string | undefined, env: Environment): Address {
  const [name, text] =
    given !== undefined ? ['--url', given] : ['RELAY_URL', env.RELAY_URL || `http://127.0.0.1:${env.PORT || '8080'}`];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${name} must be a URL such as https://relay.example.com`);
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `${name} must have no user, password, query or fragment: credentials go into RELAY_ADMIN_TOKEN or RELAY_KEY`,
    );
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const credential = readCredential(env, loopback);
  return { url: url.href.replace(/\/+$/, ''), loopback, ...(credential && { credential }) };
}

function readCredential(env: Environment, loopback: boolean): Credential | undefined {
  for (const [from, kind] of [
    ['RELAY_ADMIN_TOKEN', 'admin'],
    ['RELAY_KEY', 'key'],
  ] as const) {
    if (env[from]) return { bearer: sendable(env[from], from), from, kind };
  }
  if (!loopback) return undefined;
  const file = join(env.RELAY_DATA_DIR || '.relay', 'admin-token');
  try {
    return { bearer: sendable(readFileSync(file, 'utf8'), file), from: file, kind: 'admin' };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return undefined;
  }
}

function sendable(bearer: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(bearer.trim())) return bearer.trim();
  throw new UsageError(`${from} does not hold a token: it must be one word of plain characters`);
}
