/** What an error of the network means: in words, and whether trying again may help. */

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
  // Nodemailer's own codes:
  ECONNECTION: 'the connection was closed by the other side',
  EPROTOCOL: 'the answer was not proper SMTP',
  ESOCKET: 'the connection failed',
  ETLS: 'TLS could not be established',
};

/** OpenSSL's and Node's codes for a certificate that does not verify. */
const CERTIFICATE = /CERT|ISSUER|LEAF_SIGNATURE|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)$/;

/**
 * `permanent` for an internal address and a certificate that does not verify, since people must put them right; else `retryable`.
 * @throws the error itself if it has no code: then it comes from a mistake in the program, not from the network
 */
export function networkFailure(error: unknown): { kind: FailureKind; words: string } {
  if (error instanceof InternalAddressError) return { kind: 'permanent', words: error.message };
  // Nodemailer puts a code of its own in place of the system's, which it keeps in originalCode.
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
