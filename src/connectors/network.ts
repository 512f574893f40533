/** Keeps companies' settings, such as `http://169.254.169.254/`, out of the relay's own network; what network errors mean. */

import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { ConnectorError } from './call.js';

/** IPv4 networks that are not for the public, from the IANA registry of special-purpose addresses. */
const INTERNAL_V4: [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // "this host"
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT; Alibaba's metadata
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's metadata, in public address space
  ['169.254.0.0', 16], // link-local; the metadata address of most clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // protocol assignments; Oracle's metadata
  ['192.0.2.0', 24], // documentation
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** IPv6 must be global unicast, or NAT64 of public IPv4. So loopback, mapped, unique-local and link-local are refused. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet('2000::', 3, 'ipv6');
GLOBAL_V6.addSubnet('64:ff9b::', 96, 'ipv6');

const INTERNAL = new BlockList();
for (const [network, prefix] of INTERNAL_V4) {
  INTERNAL.addSubnet(network, prefix, 'ipv4');
  INTERNAL.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
}
INTERNAL.addSubnet('2001::', 23, 'ipv6'); // protocol assignments, Teredo among them
INTERNAL.addSubnet('2001:db8::', 32, 'ipv6'); // documentation
INTERNAL.addSubnet('2002::', 16, 'ipv6'); // 6to4 wraps any IPv4 address
INTERNAL.addSubnet('3fff::', 20, 'ipv6'); // documentation

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !INTERNAL.check(address, 'ipv4');
  return GLOBAL_V6.check(address, 'ipv6') && !INTERNAL.check(address, 'ipv6');
}

/** A connection that was not made because it led inside. It does not name the address found: strangers need not know it. */
export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError';

  constructor(host: string) {
    super(
      `not connected, because ${host} leads to a private, loopback or otherwise internal address; ` +
        'use a public one, or ask the operator to set RELAY_ALLOW_PRIVATE_NETWORKS',
    );
  }
}

/** Refuses a host that is itself an internal address, for which Node makes no look-up. Brackets around IPv6 are allowed. */
export function assertPublicHost(host: string): void {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw new InternalAddressError(host);
}

/** `dns.lookup` that refuses internal addresses. The socket connects to what was checked here: DNS rebinding gains nothing. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const first = addresses[0];
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new InternalAddressError(hostname), []);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

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
  HTTPParserError: 'the answer was not HTTP',
  // Nodemailer's own codes:
  ECONNECTION: 'the connection was closed by the other side',
  EPROTOCOL: 'the answer was not proper SMTP',
  ESOCKET: 'the connection failed',
  ETLS: 'TLS could not be established',
};

const CERTIFICATE = /CERT|ISSUER|LEAF_SIGNATURE|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)$/;

/** Codes of a connection that broke after it had been made, or answered nonsense: the request may have arrived. */
const UNANSWERED = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HTTPParserError)$/;

/** @throws the error itself if it has no code: then it comes from a mistake in the program, not from the network. */
export function networkFailure(error: unknown, signal: AbortSignal): Pick<ConnectorError, 'kind' | 'message' | 'facts'> {
  if (signal.aborted) return { kind: 'retryable', message: signal.reason.message, facts: { unanswered: true } };
  if (error instanceof InternalAddressError) return { kind: 'permanent', message: error.message, facts: {} };
  const code = codeOf(error);
  if (code === undefined) throw error;
  if (CERTIFICATE.test(code)) return { kind: 'permanent', message: `its TLS certificate was not accepted (${code})`, facts: {} };
  const message = WORDS[code] ?? `the connection failed (${code})`;
  return { kind: 'retryable', message, facts: UNANSWERED.test(code) ? { unanswered: true } : {} };
}

/**
 * Nodemailer puts a code of its own in place of the system's, which it keeps in `originalCode`; undici's parser need have none.
 */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'HTTPParserError') return error.name;
  const codes = [Reflect.get(error, 'originalCode'), Reflect.get(error, 'code')];
  return codes.find((code: unknown) => typeof code === 'string');
}
