/** Sets a field of a ticket. The steps are the same in every ticket system: resolve, read, compare, write, verify. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { capital } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import { readTimestamp } from '../chain/timestamp/read.js';
import { type Bounds, type Call, ConnectorError } from './call.js';
import type { HttpClient } from './http.js';
import { mayHaveArrived } from './sends.js';
import { assertLeft, type Memory, missing, refused, Session, ticketingSettings, type VendorApi } from './session.js';

/** `text` is the value, in the pattern of `cfTargetDateFormat` if there is one. `value` is the value without that pattern. */
export interface FieldUpdate {
  ticketId: string;
  name: string;
  text: string;
  value: string;
  hasPattern: boolean;
  timeZone: string;
}

/** What a check looks for: the fields that the company's rules name, and a ticket. */
type Wanted = { fields?: readonly string[]; ticketId?: string };

export interface Ticketing extends Bounds {
  /** Checks the connection, and changes nothing. @throws ConnectorError */
  check(call: Call, wanted?: Wanted): Promise<string>;
  /** Returns the names of the fields that the relay can write, for lists to choose from. Absent if the system lists none. */
  names?(call: Call): Promise<string[]>;
  /** @returns a note for people, for example that the field had this value already. @throws ConnectorError */
  setField(update: FieldUpdate, call: Call): Promise<{ note?: string }>;
}

export type FieldType = 'text' | 'rich-text' | 'number' | 'boolean' | 'date' | 'instant' | 'choice';

type Option = { value: string; label: string };

export interface Field {
  id: string; // the name in the API
  names: string[]; // the names that people may use: name, label, id
  type: FieldType;
  options?: Option[]; // only for a choice
  list?: true; // a choice in which several options can be chosen
  maxLength?: number;
  decimals?: number; // the maximum number of decimals
  /** Why the relay cannot write the field. Absent if the relay can write it. */
  fixed?: string;
  /** What to do if the field is fixed. */
  remedy?: string;
}

/** A value in the vendor's form. `null` removes the value. */
export type Value = unknown;
type Form<Given> = (given: Given, field: Field) => Value;

export interface TicketSystem extends Omit<VendorApi, 'what'> {
  limits?: Ticketing['limits'];
  /** Returns the ids of the tickets with this id or number. Usually there is one. */
  resolve(session: Session, reference: string): Promise<string[]>;
  /** @param ticketId - for systems whose tickets have different fields; may be absent in a check */
  fields(session: Session, ticketId?: string): Promise<Field[]>;
  /** Returns the same text for tickets with the same fields. Without this function, all tickets have the same fields. */
  fieldsOf?(ticketId: string): string;
  /** The maximum length of a field's name, for advice. */
  nameLength?: number;
  /** How many minutes the relay remembers fields. 0 if each ticket has its own fields. */
  fieldMinutes?: number;
  /** Returns the current value, and the data of the ticket that a write needs. */
  read(session: Session, ticketId: string, field: Field): Promise<{ value: Value; ticket: unknown }>;
  /** @returns the value in the answer. If the answer has no value, returns undefined, and the relay reads the field back. */
  write(session: Session, ticketId: string, field: Field, value: Value, ticket: unknown): Promise<{ value: Value } | undefined>;
  /** Functions that write a value in the vendor's form. `convert` has the defaults. */
  forms?: {
    date?: Form<string>; // gets the day, such as 2026-07-01
    instant?: Form<Date>;
    choice?: Form<Option>; // also for each option of a list
    number?: Form<number>;
    'rich-text'?: Form<string>;
    text?: Form<string>;
  };
  /** Says how many calls the vendor still allows. */
  quota?(session: Session): Promise<string | undefined>;
  /** Returns the vendor's value as a text, for comparisons. If absent, or if the result is undefined, `comparable` decides. */
  plain?(value: Value, field: Field): string | undefined;
}

/** No write begins if less time than this is left, because the write must also be verified. */
const verifyMs = 6_000;

export function createTicketing(system: TicketSystem, http: HttpClient, memory: Memory): Ticketing {
  const api = { ...system, what: ticketingSettings };
  const begin = (call: Call) => new Session(api, http, memory, call);

  async function ticketCalled(session: Session, reference: string): Promise<string> {
    const [id, other] = await system.resolve(session, reference);
    if (id === undefined) throw missing(system.name, `ticket ${reference}`);
    if (other === undefined) return id;
    throw refused(
      `${system.name} has several tickets with the number ${reference}`,
      `Several tickets at ${system.name} have the number ${reference}`,
      'Use the id of the ticket instead of its number, then retry',
    );
  }

  async function fieldCalled(session: Session, name: string, ticketId?: string): Promise<Field> {
    const key = ticketId !== undefined && system.fieldsOf ? `fields ${system.fieldsOf(ticketId)}` : 'fields';
    const found = async (fresh: boolean) => {
      const look = () => system.fields(session, ticketId);
      const fields = await memory.of(key, look, { fresh, minutes: system.fieldMinutes });
      const called = (same: (known: string) => boolean) => fields.filter(({ names }) => names.some(same));
      const exact = called((known) => known === name);
      return { fields, matching: exact.length > 0 ? exact : called((known) => known.toLowerCase() === name.toLowerCase()) };
    };
    const known = await found(false);
    const { fields, matching } = known.matching.length > 0 ? known : await found(true);
    const [field, other] = matching;
    if (!field) {
      const some = fields.slice(0, 20).map(({ names }) => names[0]);
      throw refused(
        `${system.name} has no ticket field "${name}"; it has ${some.join(', ') || 'none'}`,
        `There is no field "${name}" at ${system.name}`,
        `Change cfName to the name of a field${system.nameLength ? ` (at most ${system.nameLength} characters)` : ''}, then retry`,
      );
    }
    if (other)
      throw refused(
        `${system.name} has ${matching.length} ticket fields called "${name}"`,
        `"${name}" is the name of several fields`,
        `Use the id of one field as cfName: ${matching.map(({ id }) => id).join(', ')}`,
      );
    if (field.fixed)
      throw refused(
        `the field "${name}" cannot be written: ${field.fixed}`,
        `The relay cannot change "${name}" at ${system.name}`,
        field.remedy ?? 'Change cfName to another field',
      );
    return field;
  }

  async function setField(update: FieldUpdate, call: Call): Promise<{ note?: string }> {
    const session = begin(call);
    const kept = keptSchema.safeParse(call.kept).data;
    const isSame = kept?.reference === update.ticketId; // An edited action can name another ticket.
    const ticketId = isSame ? kept.ticketId : await ticketCalled(session, update.ticketId);
    const keep = async (before?: string) => call.keep?.({ reference: update.ticketId, ticketId, ...(before && { before }) });
    if (!isSame) await keep();
    const field = await fieldCalled(session, update.name, ticketId);
    const wanted = convert(system, field, update);
    const plain = (value: Value) => comparable(system, field, value);
    const isWanted = (value: Value) => plain(value) === plain(wanted);
    const note =
      update.hasPattern && (field.type === 'date' || field.type === 'instant')
        ? `the date format of the step was not used, because "${update.name}" has its own date format`
        : undefined;
    const notes = (...more: string[]) => {
      const said = [...more, ...(note ? [note] : [])].join('; ');
      return said === '' ? {} : { note: said };
    };

    const stateOf = (value: Value) => hash('sha256', `${field.id} ${plain(value)}`);
    const shown = (value: Value) => (plain(value) === '' ? 'no value' : JSON.stringify(plain(value).slice(0, 100)));
    /** The error if somebody else has changed the field. If a person retries the action, it starts from the first step. */
    const undecided = async (why: string, now: Value) => {
      await keep().catch(() => {}); // If `keep` fails, the error below still has the data.
      const found = `${why}; "${update.name}" at ${system.name} now has ${shown(now)}; nothing was overwritten`;
      return new ConnectorError('unknown', found, {
        settled: true,
        title: `Somebody else has changed "${update.name}" at ${system.name} to ${shown(now)}`,
        remedy: 'Look at the field: skip the step if the field has the right value, otherwise retry',
      });
    };

    const before = await system.read(session, ticketId, field);
    if (isWanted(before.value)) return notes(`the field had this value already`);
    const state = stateOf(before.value);
    if (isSame && kept.before && kept.before !== state)
      throw await undecided('an earlier attempt may have changed the field', before.value);
    assertLeft(session, verifyMs, 'verify a change, so nothing was changed');
    await keep(state);
    let written: { value: Value } | undefined;
    try {
      written = await system.write(session, ticketId, field, wanted, before.ticket);
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      if (error.kind === 'permanent' || !mayHaveArrived(error.facts)) await keep().catch(() => {}); // See `undecided`.
      if (!error.facts.unanswered) throw error;
      // The answer was lost, so the relay reads the ticket to find out whether the vendor made the change.
      const now = await system.read(session, ticketId, field).catch(() => undefined);
      if (now && isWanted(now.value)) return notes('the answer was lost, but the field has the new value');
      if (now && stateOf(now.value) !== state) throw await undecided(error.message, now.value);
      const found = now ? 'was read again and does not have the new value' : 'could not be read again';
      throw new ConnectorError(error.kind, `${error.message}; the field ${found}`, error.facts);
    }
    const after = written ?? (await system.read(session, ticketId, field));
    if (isWanted(after.value)) return notes();
    await keep().catch(() => {}); // See `undecided`.
    throw refused(
      `${system.name} accepted the change of "${update.name}", but the field has ${shown(after.value)}`,
      `${system.name} did not keep the new value of "${update.name}"`,
      `Check the field and its rules at ${system.name}, change cfValue, then retry`,
    );
  }

  async function names(call: Call): Promise<string[]> {
    const fields = await memory.of('fields', () => system.fields(begin(call)), { minutes: system.fieldMinutes });
    return fields.flatMap(({ names: [name], fixed }) => (name === undefined || fixed ? [] : name));
  }

  async function check(call: Call, { fields = [], ticketId }: Wanted = {}): Promise<string> {
    const session = begin(call);
    const known = await memory.of('fields', () => system.fields(session), { fresh: true, minutes: system.fieldMinutes });
    const id = ticketId === undefined ? undefined : await ticketCalled(session, ticketId);
    for (const name of fields) {
      const field = await fieldCalled(session, name, id);
      if (id !== undefined) await system.read(session, id, field);
    }
    const of = fields.length > 0 ? `, among them ${fields.join(', ')}` : '';
    const quota = await system.quota?.(session).catch(() => undefined);
    return [
      `answers, accepts the credentials and shows ${known.length} ticket fields${of}`,
      id === undefined
        ? 'To check that the relay may read tickets, enter the id of a ticket'
        : `The relay can read ticket ${ticketId}`,
      ...(quota === undefined ? [] : [capital(quota)]),
    ].join('. ');
  }

  return { severalCalls: true, ...(system.limits && { limits: system.limits }), check, names, setField };
}

/** The data for the next attempt. `before` is the field's state before a write. Absent if no write can have succeeded. */
const keptSchema = z.object({ reference: z.string(), ticketId: z.string(), before: z.string().optional() });

/** Returns the value in the vendor's form, or null if it is blank. @throws ConnectorError if the field cannot have the value */
function convert({ name: vendor, forms = {} }: TicketSystem, field: Field, update: FieldUpdate): Value {
  const { name, text, value, timeZone } = update;
  const cannot = (why: string) =>
    refused(
      `${JSON.stringify(text.slice(0, 60))} cannot be the value of "${name}" at ${vendor}: ${why}`,
      `"${name}" cannot have this value`,
      'Change cfValue, then retry',
    );
  if (value.trim() === '') return null;
  switch (field.type) {
    case 'number': {
      const number = Number(text) + 0; // never -0
      if (!Number.isFinite(number)) throw cannot('it is not a number');
      if (Number.isInteger(number) && !Number.isSafeInteger(number)) throw cannot('it has too many digits');
      if (field.decimals !== undefined && Number(number.toFixed(field.decimals)) !== number)
        throw cannot(`the maximum number of decimals is ${field.decimals}`);
      return forms.number ? forms.number(number, field) : number;
    }
    case 'boolean': {
      const lower = text.trim().toLowerCase();
      if (['true', 'yes', '1'].includes(lower)) return true;
      if (['false', 'no', '0'].includes(lower)) return false;
      throw cannot('the field takes only true or false');
    }
    case 'date':
    case 'instant': {
      const read = readTimestamp(value, timeZone);
      if (!read.ok) throw cannot(read.error);
      const time = new Date(read.epochMillis);
      const day = timesIn(timeZone)(time.toISOString()).slice(0, 10);
      for (const text of [time.toISOString(), day])
        if (!/^(?!0000)\d{4}-\d/.test(text)) throw cannot('the year must be from 1 to 9999');
      if (field.type === 'instant') return forms.instant ? forms.instant(time, field) : time.toISOString();
      return forms.date ? forms.date(day, field) : day;
    }
    case 'choice': {
      const { options = [], list } = field;
      const named = (text: string) => {
        const same = (one: string) => one.trim().toLowerCase() === text.trim().toLowerCase();
        const exact = options.find(({ value }) => value === text) ?? options.find(({ label }) => same(label));
        return exact ?? options.find(({ value }) => same(value));
      };
      const form = (text: string) => {
        const option = named(text);
        const labels = options.slice(0, 20).map(({ label }) => label);
        if (!option) throw cannot(`it is not one of the options: ${labels.join(', ')}`);
        return forms.choice ? forms.choice(option, field) : option.value;
      };
      if (!list) return form(text);
      return (named(text) ? [text] : text.split(',')).map(form);
    }
    default: {
      if (field.maxLength && text.length > field.maxLength)
        throw cannot(`it has ${text.length} characters, but the field takes at most ${field.maxLength}`);
      const form = field.type === 'text' ? forms.text : forms['rich-text'];
      return form ? form(text, field) : text;
    }
  }
}

function comparable(system: TicketSystem, field: Field, value: Value): string {
  if (value === null || value === undefined || value === '') return '';
  if (Array.isArray(value)) return [...new Set(value.map((one) => comparable(system, field, one)))].sort().join(', ');
  const plain = system.plain?.(value, field);
  if (plain !== undefined) return plain;
  if (field.type === 'number') return String(Number(value));
  if (field.type === 'instant' && typeof value === 'string') {
    const time = Date.parse(/[Zz]|[+-]\d\d:?\d\d$/.test(value) ? value : `${value.replace(' ', 'T')}Z`);
    return Number.isNaN(time) ? value : new Date(time).toISOString();
  }
  if (field.type === 'date' && typeof value === 'string') return value.slice(0, 10);
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value).replace(/\r\n?/g, '\n').trim(); // A vendor may change line breaks and remove spaces at the ends.
}
