/** Refuses URLs that lead into the relay's own network, such as `http://169.254.169.254/`. Explains network errors. */

import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { PrivateNetworks } from '../service/config.js';
import type { ConnectorError } from './call.js';

/** Non-public IPv4 networks, from the IANA registry of special-purpose addresses. */
const INTERNAL_V4: [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // "this host"
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT; Alibaba's metadata
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's metadata, in public address space
  ['169.254.0.0', 16], // link-local; the metadata address of most clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // IETF protocol assignments; Oracle's metadata
  ['192.0.2.0', 24], // documentation
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** The networks of public IPv6 addresses: global unicast, and NAT64 of IPv4. `INTERNAL` has the exceptions in these networks. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet('2000::', 3, 'ipv6');
GLOBAL_V6.addSubnet('64:ff9b::', 96, 'ipv6');

const INTERNAL = new BlockList();
for (const [network, prefix] of INTERNAL_V4) {
  INTERNAL.addSubnet(network, prefix, 'ipv4');
  INTERNAL.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
}
INTERNAL.addSubnet('2001::', 23, 'ipv6'); // protocol assignments, including Teredo
INTERNAL.addSubnet('2001:db8::', 32, 'ipv6'); // documentation
INTERNAL.addSubnet('2002::', 16, 'ipv6'); // 6to4, which can contain any IPv4 address
INTERNAL.addSubnet('3fff::', 20, 'ipv6'); // documentation

export const isPublicAddress = (address: string) =>
  (isIP(address) === 4 || GLOBAL_V6.check(address, 'ipv6')) && !holds(INTERNAL, address);

/** Whether a network contains the address. An IPv4 address within IPv6 (`::ffff:10.0.0.1`) counts as IPv4. */
const holds = (networks: BlockList, address: string) => networks.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Cloud services that give a machine its credentials. The relay never calls them, even if the operator allows the addresses. */
const METADATA = new BlockList();
const METADATA_NAMES = ['metadata.google.internal', 'metadata.goog'];
for (const [network, prefix] of [
  ['169.254.0.0', 16], // link-local: most clouds
  ['100.100.100.200', 32], // Alibaba
  ['168.63.129.16', 32], // Azure
  ['192.0.0.192', 32], // Oracle
] as const) {
  METADATA.addSubnet(network, prefix, 'ipv4');
  METADATA.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
}
METADATA.addSubnet('fe80::', 10, 'ipv6'); // link-local
METADATA.addAddress('fd00:ec2::254', 'ipv6'); // Amazon
METADATA.addAddress('fd20:ce::254', 'ipv6'); // Google
METADATA.addAddress('fd00:42::42', 'ipv6'); // Scaleway
METADATA.addAddress('fd00:c1::a9fe:a9fe', 'ipv6'); // Oracle

/** The relay made no connection. The message does not contain the resolved address, which strangers must not learn. */
export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError';

  constructor(host: string) {
    super(
      `the relay did not connect, because ${host} leads to a private, loopback or other internal address; ` +
        'use a public address, or ask the operator to allow this address in RELAY_ALLOW_PRIVATE_NETWORKS and to enter it in the settings of the company, ' +
        'because a key of the company can set only public addresses',
    );
  }
}

/** Makes a guard that allows public addresses, and the private addresses that the operator allows. */
export function guardOf(allowed: PrivateNetworks) {
  const entries = typeof allowed === 'boolean' ? [] : allowed;
  const networks = new BlockList();
  for (const [address = '', prefix] of entries.map((entry) => entry.split('/'))) {
    const type = { 4: 'ipv4', 6: 'ipv6' } as const;
    const family = type[isIP(address) as 4 | 6];
    if (family) networks.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  const isAllowed = remembered(
    (host: string, address: string) =>
      isPublicAddress(address) ||
      (!holds(METADATA, address) && (allowed === true || entries.includes(host) || holds(networks, address))),
  );
  const nameOf = (host: string) => host.toLowerCase().replace(/^\[(.*)\]$|\.$/g, '$1');

  /** Checks a host without a DNS lookup. An IP address needs this check: Node does not call `guardedLookup` for IP addresses. */
  function allows(host: string): boolean {
    const name = nameOf(host);
    return !METADATA_NAMES.includes(name) && (isIP(name) === 0 || isAllowed(name, name));
  }

  function assertAllowed(host: string): void {
    if (!allows(host)) throw new InternalAddressError(host);
  }

  /** A `dns.lookup` that refuses internal addresses. The socket uses the checked result, so DNS rebinding has no effect. */
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const first = addresses[0];
      if (first === undefined || !addresses.every(({ address }) => isAllowed(nameOf(hostname), address)))
        return callback(new InternalAddressError(hostname), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  return { allows, assertAllowed, lookup: guardedLookup };
}

/** Remembers the last answers, because a block list is slow, and most calls go to few addresses. */
function remembered(isAllowed: (host: string, address: string) => boolean): typeof isAllowed {
  const answers = new Map<string, boolean>();
  return (host, address) => {
    const key = `${host} ${address}`;
    const answer = answers.get(key) ?? isAllowed(host, address);
    if (answers.size >= 1000) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}

const WORDS: Record<string, string> = {
  EAI_AGAIN: 'the host name could not be looked up (DNS did not answer)',
  ECONNREFUSED: 'the connection was refused (no process listens there)',
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

/** After these errors, the request may have arrived: an open connection broke, or the answer was not HTTP. */
const UNANSWERED = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HTTPParserError)$/;

/** @throws the given error if it has no code. Such an error is a bug and not a network error. */
export function networkFailure(error: unknown, signal: AbortSignal): Pick<ConnectorError, 'kind' | 'message' | 'facts'> {
  if (signal.aborted) return { kind: 'retryable', message: signal.reason.message, facts: { unanswered: true } };
  if (error instanceof InternalAddressError) return { kind: 'permanent', message: error.message, facts: {} };
  const code = codeOf(error);
  if (code === undefined) throw error;
  if (CERTIFICATE.test(code))
    return { kind: 'permanent', message: `the relay does not accept the TLS certificate of the server (${code})`, facts: {} };
  const message = WORDS[code] ?? `the connection failed (${code})`;
  return { kind: 'retryable', message, facts: UNANSWERED.test(code) ? { unanswered: true } : {} };
}

/** Nodemailer keeps the system's code in `originalCode`; errors of undici's parser may have no code. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'HTTPParserError') return error.name;
  const codes = [Reflect.get(error, 'originalCode'), Reflect.get(error, 'code')];
  return codes.find((code: unknown) => typeof code === 'string');
}
