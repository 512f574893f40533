/** Converts random values for each field type, and sends the results to the simulator. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { ConnectorError } from '../../src/connectors/call.js';
import { createHttpClient, type HttpClient } from '../../src/connectors/http.js';
import { Memory } from '../../src/connectors/session.js';
import { createTicketing, type TicketSystem } from '../../src/connectors/tickets.js';
import type { Vendor, VendorState } from '../../src/sandbox/vendors/vendor.js';
import { extent } from '../extent.js';

const numRuns = extent(200, 1000);

/** Calls the simulator without a socket, which is several times faster. */
function withoutSocket({ app }: Pick<Vendor<VendorState>, 'app'>): HttpClient {
  return {
    ...createHttpClient({ allowPrivateNetworks: true }),
    async ask({ method, url, headers, auth, body }) {
      const credentials = auth?.type === 'basic' && Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
      const response = await app.request(url, {
        method,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          ...(credentials && { authorization: `Basic ${credentials}` }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json: unknown = text === '' ? undefined : JSON.parse(text);
      return { label: `${method} ${url.pathname}`, status: response.status, headers: {}, text, json };
    },
  };
}

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', ' ', '\n', '\r', '"', '<', '\u2028'), fc.string({ unit: 'binary' })),
});

/** Some of these values fit a type, and some do not. */
export const randomValues = {
  text: fc.oneof(anyText, fc.string({ unit: 'grapheme', maxLength: 60 }), fc.lorem()),
  number: fc.oneof(
    fc.integer().map(String),
    fc.double().map(String),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((number) => number.toFixed(2)),
    fc.constantFrom('', '-0', '0.0000001', '1e3', '1e21', ' 7 ', '9007199254740993', '0x10', 'Infinity', '1,5'),
    anyText,
  ),
  boolean: fc.oneof(fc.constantFrom('true', 'FALSE', 'Yes', 'no', ' 1 ', '0', '', 'maybe', '2'), anyText),
  time: fc.oneof(
    fc.date({ noInvalidDate: true }).map((time) => time.toISOString()),
    fc
      .date({ noInvalidDate: true, min: new Date('1990-01-01'), max: new Date('2100-01-01') })
      .map((time) => time.toISOString().replace(/Z$/, '+05:30')),
    fc.integer({ min: 0, max: 4_000_000_000 }).map(String),
    fc.constantFrom(
      '',
      'yesterday',
      '2026-03-08 02:30',
      '2026-11-01 01:30',
      '9999-12-31T23:59:59Z',
      '0000-06-01',
      '0001-01-01T12:00Z',
    ),
    anyText,
  ),
  choice: (...options: string[]) =>
    fc.oneof(fc.constantFrom('', ...options, ...options.map((option) => ` ${option.toUpperCase()}`)), anyText),
};

interface Subject<State extends VendorState, Failure extends string> {
  create(): Vendor<State, Failure>;
  system(url: string): TicketSystem;
  ticketId: string;
  fields: Record<string, fc.Arbitrary<string>>;
  stored(state: State, field: string): unknown;
  /** Returns the value in the body of a change. */
  written(body: unknown, field: string): unknown;
}

/**
 * Declares a test for each field, with many values. Either the simulator stores exactly this value, and setting it again changes
 * nothing, or the value is refused before a write.
 */
export function describeRandomValues<State extends VendorState, Failure extends string>(
  kind: string,
  { create, system, ticketId, fields, stored, written }: Subject<State, Failure>,
): void {
  describe(`${kind}: random values`, () => {
    for (const [name, values] of Object.entries(fields))
      it(name, async () => {
        const vendor = create();
        const { setField } = createTicketing(system('http://127.0.0.1'), withoutSocket(vendor), new Memory());
        const set = (value: string) =>
          setField(
            { ticketId, name, text: value, value, hasPattern: false, timeZone: 'America/Chicago' },
            { timeoutMs: 15_000 },
          ).catch((error: unknown) => error);
        const changes = () => vendor.state.calls.filter(({ method }) => method === 'PATCH' || method === 'PUT');
        let kept = 0;
        const asWritten = async (value: string) => {
          vendor.state.calls.length = 0;
          const before = stored(vendor.state, name);
          const outcome = await set(value);
          if (outcome instanceof ConnectorError) {
            assert.equal(outcome.kind, 'permanent', outcome.message);
            assert.match(outcome.facts.title ?? '', /cannot have this value/, outcome.message);
            assert.deepEqual([changes().length, stored(vendor.state, name)], [0, before]);
            return;
          }
          kept++;
          const [change, another] = changes();
          assert.equal(another, undefined);
          if (change) assert.equal(String(stored(vendor.state, name) ?? ''), String(written(change.body, name) ?? ''));
          const { note } = z.object({ note: z.string() }).parse(await set(value));
          assert.match(note, /had this value already/);
          assert.equal(changes().length, change ? 1 : 0);
        };
        await fc.assert(fc.asyncProperty(values, asWritten), { numRuns });
        assert.ok(kept > numRuns / 10, `only ${kept} values were kept`);
      });
  });
}
