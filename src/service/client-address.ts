/** Finds the client address of a request. */

import { isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { isLoopback } from '../contract/loopback.js';

/** The address of the socket. Proxy headers are not trusted. */
export function clientAddress(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? 'unknown';
  } catch {
    return 'unknown'; // `app.request()` has no socket.
  }
}

/** Limits count clients by this text: an IPv4 address, or a /64 network of IPv6, because one subscriber has a whole /64. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(Math.max(0, zeros)).fill('0'), ...groups(tail)];
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return network.join(':');
}

/** Proxies add these headers. If a request has such a header, the socket has the address of the proxy, not of the client. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Whether the request comes from this machine, without a proxy. */
export const isLocal = (c: Context) =>
  isLoopback(clientAddress(c)) && forwarding.every((name) => c.req.header(name) === undefined);
