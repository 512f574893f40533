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
  const name = given === undefined ? 'RELAY_URL' : '--url';
  const text = given ?? (env.RELAY_URL || `http://127.0.0.1:${env.PORT || '8080'}`);
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
  if (env.RELAY_ADMIN_TOKEN) return credentialOf(env.RELAY_ADMIN_TOKEN, 'RELAY_ADMIN_TOKEN', 'admin');
  if (env.RELAY_KEY) return credentialOf(env.RELAY_KEY, 'RELAY_KEY', 'key');
  const file = join(env.RELAY_DATA_DIR || '.relay', 'admin-token');
  const kept = loopback ? readIfThere(file) : undefined;
  return kept === undefined ? undefined : credentialOf(kept, file, 'admin');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function credentialOf(text: string, from: string, kind: Credential['kind']): Credential {
  const bearer = text.trim();
  if (/^[\x21-\x7e]+$/.test(bearer)) return { bearer, from, kind };
  throw new UsageError(`${from} does not hold a token: it must be one word of plain characters`);
}
