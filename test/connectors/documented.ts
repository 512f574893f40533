/** Compares the requests that a connector sends with the documented requests in test/fixtures. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { createHttpClient } from '../../src/connectors/http.js';
import { Memory } from '../../src/connectors/session.js';
import { createTicketing, type FieldUpdate, type TicketSystem } from '../../src/connectors/tickets.js';
import { serveVendor, type Vendor, type VendorState } from '../../src/sandbox/vendors/vendor.js';

const http = createHttpClient({ allowPrivateNetworks: true });

export interface Sent {
  method: string;
  path: string; // without the query
  query: Record<string, string>;
  headers: Record<string, string>; // names in small letters
  json?: unknown;
}

/** Sets fields of a new simulator's ticket. @returns the requests, with their credentials */
export async function sentFor<State extends VendorState, Failure extends string>(
  vendor: Vendor<State, Failure>,
  system: (url: string) => TicketSystem,
  ticketId: string,
  sets: readonly (readonly [field: string, value: string])[],
): Promise<Sent[]> {
  const sent: Sent[] = [];
  const app = new Hono<{ Bindings: HttpBindings }>().all('*', async (c) => {
    const { method, url } = c.req;
    const text = await c.req.raw.clone().text();
    const { pathname: path, searchParams } = new URL(url);
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    sent.push({ method, path, query: Object.fromEntries(searchParams), headers: c.req.header(), json });
    return vendor.app.fetch(c.req.raw, c.env);
  });
  const { url, close } = await serveVendor({ app, faults: vendor.faults });
  try {
    const { setField } = createTicketing(system(url), http, new Memory());
    for (const [name, value] of sets) {
      const update: FieldUpdate = { ticketId, name, text: value, value, hasPattern: false, timeZone: 'UTC' };
      await setField(update, { timeoutMs: 15_000 });
    }
    return sent;
  } finally {
    await close();
  }
}

interface Documented {
  headers: Record<string, string>;
  fixtures: { name: string; exchanges: { request: { method: string; path: string; headers?: object; json?: unknown } }[] }[];
}

/** A documented request, and the intended differences of the connector's own request. */
export interface Comparison {
  fixture: string;
  exchange?: number; // default: the first
  query?: Record<string, string>; // parameters to add to the documented query, or to replace there
  json?: (documented: unknown) => unknown;
}

export function documented({ fixtures }: Documented, fixture: string, exchange = 0) {
  const request = fixtures.find(({ name }) => name === fixture)?.exchanges[exchange]?.request;
  assert.ok(request, `no fixture is called ${fixture}`);
  return request;
}

/** Declares a test for each documented request: the connector must send the same method, path, query, headers and body. */
export function describeRequests(file: Documented, sent: () => Promise<Sent[]>, comparisons: Comparison[]): void {
  describe('sends requests as documented', () => {
    for (const { fixture, exchange, query, json = (same: unknown) => same } of comparisons)
      it(fixture, async () => {
        const request = documented(file, fixture, exchange);
        const { pathname, searchParams } = new URL(request.path, 'http://vendor.invalid');
        const headers = Object.entries({ ...file.headers, ...request.headers }).map(([name, value]): [string, string] => {
          return [name.toLowerCase(), value];
        });
        const shown = (one: Sent) => ({
          ...{ method: one.method, path: one.path, query: one.query, json: one.json },
          headers: Object.fromEntries(headers.map(([name]) => [name, one.headers[name] ?? ''])), // '' if it was not sent
        });
        const expected = {
          ...{ method: request.method, path: pathname, query: { ...Object.fromEntries(searchParams), ...query } },
          ...{ json: json(request.json), headers: Object.fromEntries(headers) },
        };
        const alike = (await sent()).filter(({ method, path }) => method === request.method && path === pathname).map(shown);
        const same = alike.find((one) => isSame(one, expected));
        if (!same) assert.deepEqual(alike, [expected]);
      });
  });
}

function isSame(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
