/** What a broken connection means: words for people, and whether trying again may help. */

import type { FailureKind } from './call.js';
import { InternalAddressError } from './destination.js';

const WORDS: Record<string, string> = {
  EAI_AGAIN: 'the host name could not be looked up (DNS did not answer)',
  ECONNREFUSED: 'the connection was refused (nothing listens there)',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is not known to DNS',
  EPIPE: 'the connection was closed by the other side',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the other side does not speak TLS on this port',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed by the other side',
  // nodemailer's own
  ECONNECTION: 'the connection was closed by the other side',
  EPROTOCOL: 'the answer was not proper SMTP',
  ESOCKET: 'the connection failed',
  ETLS: 'TLS could not be established',
};

/** OpenSSL's and Node's codes for a certificate that does not verify. */
const CERTIFICATE = /CERT|ISSUER|LEAF_SIGNATURE|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)$/;

/**
 * An internal address and a certificate that does not verify are `permanent`, since a person must put them right; everything else
 * on the network is `retryable`.
 * @throws the error itself if it does not come from the network, that is, if it has no code: a mistake in the program
 */
export function networkFailure(error: unknown): { kind: FailureKind; words: string } {
  if (error instanceof InternalAddressError) return { kind: 'permanent', words: error.message };
  // nodemailer puts its own code over the system's and keeps that in originalCode
  const code = textAt(error, 'originalCode') ?? textAt(error, 'code');
  if (code === undefined) throw error;
  if (CERTIFICATE.test(code)) return { kind: 'permanent', words: `its TLS certificate was not accepted (${code})` };
  return { kind: 'retryable', words: WORDS[code] ?? `the connection failed (${code})` };
}

function textAt(error: unknown, key: 'code' | 'originalCode'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, key);
  return typeof value === 'string' ? value : undefined;
}
