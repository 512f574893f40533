/** Tests for every kind of ticket system, with its simulator over a real socket. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Call, ConnectorError } from '../../src/connectors/call.js';
import { createHttpClient } from '../../src/connectors/http.js';
import { Memory } from '../../src/connectors/session.js';
import { createTicketing, type FieldUpdate, type Ticketing, type TicketSystem } from '../../src/connectors/tickets.js';
import { serveVendor, type Vendor, type VendorState } from '../../src/sandbox/vendors/vendor.js';
import { extent } from '../extent.js';
import { randomFrom } from '../random.js';
import { failing } from './failing.js';

const seed = Number(process.env.RELAY_TEST_SEED ?? Date.now() % 1_000_000);
const http = createHttpClient({ allowPrivateNetworks: true });

type Doubts = Record<string, boolean>;

export interface TicketSystemCase<State extends VendorState, Failure extends string> {
  kind: string;
  /**
   * Facts about the vendor that its documentation leaves open. Each is a setting of the simulator. All tests run with the usual
   * settings, and again with all settings reversed.
   */
  doubts: Doubts;
  /** With these settings, the connector must fail, for example because the vendor lacks the call. */
  hopeless?: string[];
  create(doubts: Doubts): Vendor<State, Failure>;
  system(url: string): TicketSystem;
  ticket: { id: string; number?: string };
  /** Fields, values to set, and the values that the simulator then stores. */
  sets: { field: string; value: string; text?: string; hasPattern?: true; stored: unknown }[];
  /** Values that must be refused before a write, with the error messages. */
  refuses: { field: string; value: string; says: RegExp }[];
  writeMethod: 'PUT' | 'PATCH';
  stored(state: State, field: string): unknown;
  /** The result of a check must match this pattern, if the vendor says how many calls are left. */
  quota?: RegExp;
  /** A text field for the tests of failures, and its first value. */
  note: { field: string; value: string };
  failures: {
    fault: { name: string } & Record<string, unknown>;
    kind: 'permanent' | 'retryable';
    title: RegExp;
    retryAfter?: number;
  }[];
}

export function describeTicketSystem<State extends VendorState, Failure extends string>(
  known: TicketSystemCase<State, Failure>,
): void {
  const flipped = Object.entries(known.doubts).map(([name, value]) => [name, known.hopeless?.includes(name) ? value : !value]);
  const settings: [string, Doubts][] = [
    ['the usual settings', known.doubts],
    ['all settings reversed', Object.fromEntries(flipped)],
  ];
  for (const [name, doubts] of settings) describe(`${known.kind} with ${name}`, () => suite(known, doubts));
}

/** For each kind of ticket system, this number of updates runs with the usual settings, and again with the reversed settings. */
const updates = extent(100, 500);
const fates = [
  'arrives',
  'no read',
  'lost before',
  'lost after',
  'cut-off',
  'cut-off-after',
  'cut-off twice',
  'server error',
] as const;
type Fate = (typeof fates)[number];
/** `cut-off twice`: the vendor makes the change, but its answer is lost. The answer to the next read is also lost. */
const cuts: Partial<Record<Fate, object>> = {
  'cut-off': { name: 'cut-off', times: 1 },
  'cut-off-after': { name: 'cut-off-after', times: 1 },
  'cut-off twice': { name: 'cut-off-after', times: 2 },
  'server error': { name: 'html', times: 1 },
};

function suite<State extends VendorState, Failure extends string>(
  { create, system, ticket, sets, refuses, writeMethod, stored, note, failures, quota }: TicketSystemCase<State, Failure>,
  doubts: Doubts,
): void {
  let vendor: Vendor<State, Failure>;
  let ticketing: Ticketing;
  let url: string;
  let close: () => Promise<void>;
  const call = (more: Partial<Call> = {}): Call => ({ timeoutMs: 15_000, attempt: 1, ...more });
  const update = (name: string, value: string, more: Partial<FieldUpdate> = {}): FieldUpdate => {
    return { ticketId: ticket.id, name, text: value, value, hasPattern: false, timeZone: 'America/Chicago', ...more };
  };
  const writes = () =>
    vendor.state.calls.filter(({ method, path }) => ['PUT', 'PATCH'].includes(method) && !/query/i.test(path)).length;
  const fail = (fault: object) => {
    vendor.faults.now = vendor.faults.schema.parse(fault);
  };

  beforeEach(async () => {
    vendor = create(doubts);
    ({ url, close } = await serveVendor(vendor));
    ticketing = createTicketing(system(url), http, new Memory());
  });
  afterEach(() => close());

  for (const { field, value, text = value, hasPattern, stored: expected } of sets)
    it(`sets ${field} to ${value}`, async () => {
      const { note: said } = await ticketing.setField(update(field, value, { text, hasPattern: hasPattern ?? false }), call());
      assert.deepEqual(stored(vendor.state, field), expected);
      if (hasPattern) assert.match(said ?? '', /date format of the step was not used/);
      const before = writes();
      assert.equal(before, 1);
      const again = await ticketing.setField(update(field, value, { text }), call());
      assert.match(again.note ?? '', /had this value already/);
      assert.equal(writes(), before);
    });

  it('refuses a value that the field cannot have, before any write', async () => {
    for (const { field, value, says } of refuses) {
      const error = await failing(ticketing.setField(update(field, value), call()));
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, says);
      assert.ok(error.facts.title && error.facts.remedy, error.message);
    }
    assert.equal(writes(), 0);
  });

  it('says that a field or a ticket does not exist', async () => {
    const field = await failing(ticketing.setField(update('No such field', 'x'), call()));
    assert.match(field.facts.title ?? '', /There is no field "No such field"/);
    const missing = await failing(ticketing.setField(update(note.field, 'x', { ticketId: '999999999' }), call()));
    assert.equal(missing.kind, 'permanent');
    assert.match(missing.facts.title ?? '', /999999999 does not exist/i);
    assert.equal(writes(), 0);
  });

  if (ticket.number)
    it('finds a ticket by its number once, and keeps its id for the next attempt', async () => {
      let kept: unknown;
      const ofNumber = update(note.field, 'by number', { ticketId: ticket.number ?? '' });
      await ticketing.setField(ofNumber, call({ keep: async (data) => (kept = data) }));
      assert.equal(stored(vendor.state, note.field), 'by number');
      const before = vendor.state.calls.length;
      await ticketing.setField(ofNumber, call({ kept }));
      assert.equal(vendor.state.calls.length, before + 1);
    });

  for (const { fault, kind, title, retryAfter } of failures)
    it(`reports the right kind of failure for ${fault.name}`, async () => {
      fail(fault);
      const error = await failing(ticketing.setField(update(note.field, 'new'), call()));
      assert.deepEqual([error.kind, error.facts.retryAfterSeconds], [kind, retryAfter], error.message);
      assert.match(error.facts.title ?? '', title);
      assert.ok(error.facts.remedy);
    });

  it('reads the field after a lost answer, and repeats a change that was not made', async () => {
    fail({ name: 'cut-off-after', times: 1, method: writeMethod });
    const { note: said } = await ticketing.setField(update(note.field, 'arrived'), call());
    assert.match(said ?? '', /the answer was lost/);
    assert.deepEqual([stored(vendor.state, note.field), writes()], ['arrived', 1]);
    fail({ name: 'cut-off', times: 1, method: writeMethod });
    const error = await failing(ticketing.setField(update(note.field, 'lost'), call()));
    assert.deepEqual([error.kind, stored(vendor.state, note.field)], ['retryable', 'arrived']);
    await ticketing.setField(update(note.field, 'lost'), call());
    assert.equal(stored(vendor.state, note.field), 'lost');
  });

  describe('a change with an unknown outcome', () => {
    let kept: unknown;
    const keep = async (data: unknown) => (kept = data);
    const byHand = () => ticketing.setField(update(note.field, 'by hand'), call());
    /** The ticket system, with another `read` or `write`. */
    const relay = (other: (real: TicketSystem) => Partial<TicketSystem>) =>
      createTicketing({ ...system(url), ...other(system(url)) }, http, new Memory());
    const set = (by: Ticketing, more: Partial<Call> = {}) => by.setField(update(note.field, 'relay'), call({ keep, ...more }));
    const isUndecided = async (setting: Promise<unknown>) => {
      const { kind, facts } = await failing(setting);
      assert.deepEqual([kind, facts.settled], ['unknown', true]);
      assert.match(facts.title ?? '', /^Somebody else has changed ".*" at .* to "by hand"$/);
      assert.ok(facts.remedy);
      assert.equal(stored(vendor.state, note.field), 'by hand');
    };

    it('does not overwrite the edit of a person after a lost answer, unless a person retries', async () => {
      let reads = 0;
      const meanwhile = relay((real) => ({
        async read(...asked) {
          reads += 1;
          if (reads === 2) await byHand();
          return real.read(...asked);
        },
      }));
      fail({ name: 'cut-off-after', times: 1, method: writeMethod });
      await isUndecided(set(meanwhile));
      await set(ticketing, { kept });
      assert.equal(stored(vendor.state, note.field), 'relay');
    });

    for (const [made, changed] of [
      [true, false],
      [true, true],
      [false, false],
      [false, true],
    ])
      it(`is checked after a lost worker: the change was ${made ? '' : 'not '}made, and a person has ${changed ? '' : 'not '}edited the field`, async () => {
        const lost = relay((real) => ({
          async write(...asked) {
            if (made) await real.write(...asked);
            throw new Error('the worker is lost');
          },
        }));
        await assert.rejects(set(lost), /the worker is lost/);
        if (changed) await byHand();
        const before = writes();
        if (changed) return isUndecided(set(ticketing, { kept, attempt: 2 }));
        const { note: said = '' } = await set(ticketing, { kept, attempt: 2 });
        assert.equal(stored(vendor.state, note.field), 'relay');
        assert.deepEqual([writes() - before, said.includes('had this value already')], made ? [0, true] : [1, false]);
      });

    it('is not made twice if its answer and the next check are lost, and a person retries', async () => {
      let reads = 0;
      const blind = relay((real) => ({
        async read(...asked) {
          reads += 1;
          if (reads === 2) throw new ConnectorError('retryable', 'no answer', { unanswered: true });
          return real.read(...asked);
        },
      }));
      fail({ name: 'cut-off-after', times: 1, method: writeMethod });
      const error = await failing(set(blind));
      assert.deepEqual([error.kind, error.facts.unanswered], ['retryable', true]);
      assert.match((await set(ticketing, { kept })).note ?? '', /had this value already/);
      assert.equal(writes(), 1);
    });

    it('is forgotten after a refusal, and after an edit that names another ticket', async () => {
      const refusing = relay(() => ({
        async write() {
          throw new ConnectorError('permanent', 'refused', { status: 500 });
        },
      }));
      await failing(set(refusing));
      await byHand();
      await set(ticketing, { kept });
      assert.equal(stored(vendor.state, note.field), 'relay');
      await byHand();
      await set(ticketing, { kept: { reference: '999999999', ticketId: '999999999', before: 'of another ticket' } });
      assert.equal(stored(vendor.state, note.field), 'relay');
    });
  });

  it(`makes ${updates} updates with cut connections and lost workers, and no field is wrong (seed ${seed})`, async () => {
    const random = randomFrom(seed);
    const lost = new Error('the worker is lost');
    const fields = sets.map(({ field }) => field);
    const first = fields.map((field) => stored(vendor.state, field));
    const tally: Record<string, number> = {};
    for (let count = 1; count <= updates; count += 1) {
      const wanted = `update ${count}`;
      let memory = new Memory();
      let kept: unknown;
      const keep = async (data: unknown) => (kept = JSON.parse(JSON.stringify(data)));
      for (let attempt = 1; ; attempt += 1) {
        assert.ok(attempt < 50, `${wanted} does not end`);
        const fate = fates[Math.floor(random() * fates.length)] ?? 'arrives';
        const before = stored(vendor.state, note.field);
        vendor.state.calls.length = 0;
        if (fate === 'no read') fail({ name: 'cut-off', times: 1 });
        const { setField } = createTicketing(fragile(system(url), fate, lost), http, memory);
        const outcome = await setField(update(note.field, wanted), call({ attempt, kept, keep })).catch(
          (error: unknown) => error,
        );
        vendor.faults.now = undefined;
        const now = stored(vendor.state, note.field);
        const about = `${wanted}, attempt ${attempt}, ${fate}: ${outcome instanceof Error ? outcome.message : JSON.stringify(outcome)}`;
        tally[fate] = (tally[fate] ?? 0) + 1;
        assert.ok(now === wanted || now === before, `${about}: the field has ${now}`);
        if (before === wanted) assert.equal(writes(), 0, `${about}: the change was made again`);
        if (!(outcome instanceof Error)) {
          assert.equal(now, wanted, about);
          break;
        }
        if (outcome === lost) memory = new Memory();
        else assert.ok(outcome instanceof ConnectorError && outcome.kind === 'retryable', about);
        if (fate === 'cut-off') assert.match(outcome.message, /read again and does not have the new value$/);
        if (fate === 'cut-off twice') assert.match(outcome.message, /could not be read again$/);
      }
    }
    assert.deepEqual(Object.keys(tally).sort(), [...fates].sort());
    for (const [place, field] of fields.entries()) {
      const last = stored(vendor.state, field);
      assert.ok(isDeepStrictEqual(last, first[place]) || last === `update ${updates}`, `${field} has ${last}`);
    }
  });

  /** The same system, except that each write fails in this way. */
  function fragile(inner: TicketSystem, fate: Fate, lost: Error): TicketSystem {
    const write: TicketSystem['write'] = async (...change) => {
      if (fate === 'lost before') throw lost;
      if (fate in cuts) fail({ ...cuts[fate], ...(fate === 'cut-off twice' ? {} : { method: writeMethod }) });
      const answer = await inner.write(...change);
      if (fate === 'lost after') throw lost;
      return answer;
    };
    return { ...inner, write };
  }

  it('handles pages in place of JSON, and answers that are too long or too late', async () => {
    for (const fault of [{ name: 'html' }, { name: 'html', status: 200 }, { name: 'huge' }, { name: 'slow', delayMs: 5_000 }]) {
      fail(fault);
      const error = await failing(ticketing.setField(update(note.field, `after ${fault.name}`), call({ timeoutMs: 1_000 })));
      assert.equal(error.kind, 'retryable', `${fault.name}: ${error.message}`);
      assert.ok(error.facts.title && error.facts.remedy, error.message);
      vendor.faults.now = undefined;
      vendor.faults.release();
    }
    assert.equal(stored(vendor.state, note.field), note.value);
  });

  it('changes nothing if no time is left to verify the change', async () => {
    const error = await failing(ticketing.setField(update(note.field, 'late'), call({ timeoutMs: 5_000 })));
    assert.deepEqual([error.kind, error.facts.unanswered, writes()], ['retryable', undefined, 0]);
    assert.match(error.message, /no time was left to verify a change, so nothing was changed/);
    assert.match(error.facts.title ?? '', / is too slow$/);
    assert.equal(error.facts.remedy, 'Wait until it answers faster, then retry');
  });

  it('shows no credential in its errors', async () => {
    fail({ name: 'credentials' });
    const error = await failing(ticketing.setField(update(note.field, 'new'), call()));
    assert.doesNotMatch(`${error.message} ${error.facts.title} ${error.facts.remedy}`, /secret|relay-token|password-/i);
  });

  it('checks the connection without effect', async () => {
    const said = await ticketing.check(call(), { fields: [note.field], ticketId: ticket.id });
    assert.match(said, new RegExp(`${note.field}.*can read ticket`));
    if (quota) assert.match(said, quota);
    const names = await ticketing.names?.(call());
    assert.ok(names?.includes(note.field), String(names));
    await failing(ticketing.check(call(), { fields: ['No such field'] }));
    fail({ name: 'credentials' });
    const error = await failing(ticketing.check(call()));
    assert.match(error.facts.title ?? '', /credentials/);
    assert.equal(writes(), 0);
  });
}
