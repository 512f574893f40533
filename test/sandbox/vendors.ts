/**
 * Runs the fixtures of a vendor against its simulator, over a real socket. Each doubtful fact about the vendor is tested with
 * both settings.
 */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { z } from 'zod';
import { serveVendor, type Vendor, type VendorState } from '../../src/sandbox/vendors/vendor.js';

const requestSchema = z.strictObject({
  method: z.string(),
  /** With the query. `{{origin}}` is the simulator's address, here and in bodies. */
  path: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  json: z.unknown().optional(),
  form: z.array(z.tuple([z.string(), z.string()])).optional(),
  text: z.string().optional(),
});

const answerSchema = z.strictObject({
  status: z.int(),
  headers: z.record(z.string(), z.string()).default({}),
  /** The whole body. `{{any}}` matches every value. If unset, the body is not compared. */
  json: z.unknown().optional(),
  /** Parts of the body by JSON Pointer (RFC 6901). All other parts are not compared. */
  at: z.record(z.string().startsWith('/'), z.unknown()).default({}),
  text: z.string().optional(),
});

const fixtureSchema = z.strictObject({
  name: z.string(),
  /** An address of the vendor's documentation, or a place in systems.md (research notes outside this repository). */
  source: z.string(),
  /** D: documentation. C: client code. M: memory. ?: the sources disagree. */
  sure: z.enum(['D', 'C', '?', 'M']),
  note: z.string().optional(),
  /** The fixture is correct only with these settings. */
  doubts: z.record(z.string(), z.boolean()).default({}),
  fault: z.looseObject({ name: z.string() }).optional(),
  exchanges: z.array(z.strictObject({ request: requestSchema, answer: answerSchema })).min(1),
});

const fixturesSchema = z.strictObject({
  kind: z.string(),
  /** Facts about the whole file, for example differences between the documentation and systems.md. */
  notes: z.array(z.string()).default([]),
  /** Headers for every request. A request can replace such a header by its own, or remove the header by an empty text. */
  headers: z.record(z.string(), z.string()).default({}),
  fixtures: z.array(fixtureSchema),
});

/** Serves a new simulator to each test of the `describe` around the call. */
export function served<State extends VendorState, Failure extends string>(create: () => Vendor<State, Failure>) {
  const simulator = { vendor: create(), url: '' };
  let close: () => Promise<unknown>;
  beforeEach(async () => {
    simulator.vendor = create();
    ({ url: simulator.url, close } = await serveVendor(simulator.vendor));
  });
  afterEach(() => close());
  return simulator;
}

type CutOff = { name: 'cut-off' | 'cut-off-after'; times: number };

/**
 * Declares a test: the connection is cut before a change, and after a change.
 * @param note - returns the field that `setNote` changes. Its first value is `Ring twice`.
 */
export function itCutsConnections(
  simulator: { vendor: { faults: { now?: unknown }; state: VendorState } },
  setNote: (value: string) => Promise<Response>,
  note: () => unknown,
): void {
  it('cuts the connection before a change, and after it', async () => {
    const lose = (name: CutOff['name']): CutOff => ({ name, times: 1 });
    simulator.vendor.faults.now = lose('cut-off');
    await assert.rejects(setNote('lost'));
    assert.equal(note(), 'Ring twice');
    simulator.vendor.faults.now = lose('cut-off-after');
    await assert.rejects(setNote('kept'));
    assert.equal(note(), 'kept');
    assert.deepEqual(
      simulator.vendor.state.calls.map(({ status }) => status),
      ['dropped', 'dropped'],
    );
  });
}

type Doubts = Record<string, boolean>;
type Fixture = z.infer<typeof fixtureSchema>;

/** Declares a test for each fixture. @param usual - the default of each doubt */
export function describeFixtures<Failure extends string>(
  file: unknown,
  usual: Doubts,
  create: (doubts: Doubts) => Vendor<VendorState, Failure>,
): void {
  const { kind, headers, fixtures } = fixturesSchema.parse(file);
  const names = Object.keys(usual);
  describe(`the fixtures of ${kind}`, () => {
    it('have each doubt with both settings', () => {
      for (const name of names)
        for (const setting of [true, false])
          assert.ok(
            fixtures.some(({ doubts }) => doubts[name] === setting),
            `no fixture has the doubt ${name} set to ${setting}`,
          );
      for (const { name, doubts } of fixtures)
        for (const doubt of Object.keys(doubts)) assert.ok(names.includes(doubt), `${name}: unknown doubt ${doubt}`);
    });
    for (const fixture of fixtures)
      it(fixture.name, async () => {
        for (const doubts of settingsFor(fixture, usual)) {
          const vendor = create(doubts);
          const { url, close } = await serveVendor(vendor);
          try {
            if (fixture.fault) vendor.faults.now = vendor.faults.schema.parse(fixture.fault);
            for (const { request, answer } of fixture.exchanges) {
              await compare(url, { ...request, headers: { ...headers, ...request.headers } }, answer, JSON.stringify(doubts));
            }
          } finally {
            await close();
          }
        }
      });
  });
}

/**
 * Returns the default settings, and for each doubt the settings with only this doubt reversed. The fixture's own settings stay.
 */
function settingsFor({ doubts }: Fixture, usual: Doubts): Doubts[] {
  const free = Object.entries(usual).filter(([name]) => doubts[name] === undefined);
  return [doubts, ...free.map(([name, setting]) => ({ ...doubts, [name]: !setting }))];
}

type Request = z.infer<typeof requestSchema>;

async function compare(url: string, request: Request, answer: z.infer<typeof answerSchema>, what: string): Promise<void> {
  const here = (text: string) => text.replaceAll('{{origin}}', url);
  const { method, path, headers, json, form, text } = request;
  const kept = Object.entries(headers).filter(([, value]) => value !== '');
  const body = json !== undefined ? here(JSON.stringify(json)) : form ? new URLSearchParams(form).toString() : text;
  const type = json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : undefined;
  const response = await fetch(url + path, {
    method,
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...Object.fromEntries(kept) },
    body,
  });
  const received = await response.text();
  assert.equal(response.status, answer.status, `${what}: ${received.slice(0, 500)}`);
  const shown = Object.fromEntries(Object.keys(answer.headers).map((name) => [name, response.headers.get(name) ?? undefined]));
  assert.deepEqual(shown, withAny(JSON.parse(here(JSON.stringify(answer.headers))), shown), what);
  if (answer.text !== undefined) assert.equal(received, answer.text, what);
  if (answer.json !== undefined) {
    const expected: unknown = JSON.parse(here(JSON.stringify(answer.json)));
    const actual: unknown = JSON.parse(received);
    assert.deepEqual(actual, withAny(expected, actual), what);
  }
  for (const [pointer, expected] of Object.entries(answer.at))
    assert.deepEqual(partAt(JSON.parse(received), pointer), expected, `${what}: ${pointer}`);
}

function partAt(body: unknown, pointer: string): unknown {
  const names = pointer.slice(1).split('/');
  return names.reduce<unknown>((part, name) => new Map(Object.entries(part ?? {})).get(name), body);
}

/** The expected value, with actual values in place of `{{any}}`. */
function withAny(expected: unknown, actual: unknown): unknown {
  if (expected === '{{any}}') return actual === undefined ? expected : actual;
  if (Array.isArray(expected))
    return expected.map((item, index) => withAny(item, Array.isArray(actual) ? actual[index] : undefined));
  if (typeof expected !== 'object' || expected === null) return expected;
  const actuals = new Map(typeof actual === 'object' && actual !== null ? Object.entries(actual) : []);
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, withAny(value, actuals.get(name))]));
}
