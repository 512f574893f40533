/**
 * Secrets in settings are write-only, and marked where their fields are declared. An answer shows that there is one as `***`, or
 * as an address with `***` in it. A request that leaves it out, or sends back what was shown, keeps it, but only while its
 * destination stays: none goes to another host. `null` removes it.
 */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';

export const mask = '***';

type Schema = z.core.$ZodType;
type JsonObject = Record<string, unknown>;

/** `shown`: as an answer shows a part of it; absent: `***`. */
type Secret = { shown?(value: string): string };
const secrets = z.registry<Secret>();
const personal = z.registry<{ personal: true }>();

export function secret<Field extends z.ZodType<string>>(schema: Field, shown?: Secret['shown']): Field {
  const marked = schema.clone(); // The same schema may serve for fields that are none.
  secrets.add(marked, { shown });
  return marked;
}

/** What the store encrypts as it does secrets, and answers show: addresses of people, and words that may tell of them. */
export function encrypted<Field extends z.ZodType>(schema: Field): Field {
  const marked = schema.clone();
  personal.add(marked, { personal: true });
  return marked;
}

/** As an answer shows it. */
export function redact<Noun extends z.ZodType>(schema: Noun, value: z.infer<Noun>): z.infer<Noun> {
  return mapSecrets(schema, value, (text, { shown = () => mask }) => shown(text));
}

/** The value with another text for each secret. */
export function mapSecrets<Noun extends z.ZodType>(
  schema: Noun,
  value: z.infer<Noun>,
  map: (text: string, secret: Secret) => string,
): z.infer<Noun> {
  const mapped = mapFields(schema, value, (type, inner) => {
    const mark = secrets.get(type);
    return mark && typeof inner === 'string' ? { value: map(inner, mark) } : undefined;
  });
  return mapped as z.infer<Noun>;
}

/** The fields with something else for each that is to be encrypted, or is. @param at - `platform/auth/token`. */
export function mapEncrypted(schema: z.ZodObject, fields: object, map: (value: unknown, at: string) => unknown): object {
  const mapped = mapFields(schema, fields, (type, inner, at) => {
    const isGiven = inner !== undefined && inner !== null;
    return isGiven && isEncrypted(type) ? { value: map(inner, at.slice(1)) } : undefined;
  });
  return mapped as object;
}

/** The fields of a noun that are encrypted, or hold something that is. */
export function encryptedFields({ shape }: z.ZodObject): string[] {
  return Object.keys(shape).filter((name) => shape[name] && holds(shape[name], isEncrypted));
}

const isEncrypted = (type: Schema) => secrets.get(type) !== undefined || personal.get(type) !== undefined;

/** @param replace - what stands in place of a field of that type; undefined: what is in it is looked at. */
function mapFields(
  schema: Schema | undefined,
  value: unknown,
  replace: (type: Schema, value: unknown, at: string) => { value: unknown } | undefined,
  at = '',
): unknown {
  const replaced = schema && replace(base(schema), value, at);
  if (replaced) return replaced.value;
  if (!schema || !isObject(value)) return value;
  const type = variant(schema, value);
  if (!(type instanceof z.ZodObject || type instanceof z.ZodRecord)) return value;
  const walked = (name: string, inner: unknown) => mapFields(fieldOf(type, name), inner, replace, `${at}/${name}`);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walked(name, inner)]));
}

export type Merge = (schema: z.ZodType, given: unknown, stored: unknown) => ReturnType<typeof merge>;

/** A request that replaces what is stored, except for what it leaves out and is a secret or holds one. */
export const replaceKeepingSecrets: Merge = (...settings) => merge(...settings, false);

/** A JSON merge patch (RFC 7396); settings that become those of another `kind` or `type` begin anew. */
export const mergePatch: Merge = (...settings) => merge(...settings, true);

/** @returns what the request comes to, for the schema to check, and the secrets that cannot be kept. */
function merge(root: z.ZodType, given: unknown, stored: unknown, patch: boolean) {
  const problems: Issue[] = [];
  let kept = 0; // stored secrets, so far

  const walk = (schema: Schema, given: unknown, stored: unknown, at: string): unknown => {
    if (given === null) return isRemovable(schema, at) ? undefined : null;
    const secretive = holds(schema, (type) => secrets.has(type));
    if (given === undefined) {
      if (secretive && stored !== undefined) kept += 1;
      return secretive || patch ? stored : undefined;
    }
    const type = base(schema);
    const mark = secrets.get(type);
    if (mark) return ofSecret(schema, mark.shown, given, stored, at);
    if (!isObject(given)) return given;
    if (type instanceof z.ZodRecord) return ofRecord(type, given, isObject(stored) ? stored : {}, at);
    const option = variant(type, patch && isObject(stored) ? { ...stored, ...given } : given);
    if (!(option instanceof z.ZodObject)) return given;
    const isSent = 'baseUrl' in option.shape;
    const before = isObject(stored) && (isSent || variant(type, stored) === option) ? stored : {};
    let carried: string | undefined;
    const fields = Object.keys({ ...option.shape, ...given }).flatMap((name) => {
      const field = fieldOf(option, name);
      if (!field) return given[name] === null && at !== '' ? [] : [[name, given[name]]];
      const [already, inner] = [kept, walk(field, given[name], before[name], `${at}/${name}`)];
      if (kept > already) carried = name;
      return inner === undefined ? [] : [[name, inner]];
    });
    const merged: JsonObject = Object.fromEntries(fields);
    if (isSent && carried && destination(merged) !== destination(before)) {
      const detail = 'is for another address, to which no secret is carried over: send it in full, or null to remove it';
      problems.push({ pointer: `${at}/${carried}`, detail });
    }
    return merged;
  };

  const ofSecret = (schema: Schema, shown: Secret['shown'], given: unknown, stored: unknown, at: string): unknown => {
    if (typeof stored === 'string' && given === (shown ? shown(stored) : mask)) {
      kept += 1;
      return stored;
    }
    // Where there is none, what is required is missing; what is optional is refused by its own rule.
    if (given === mask && !shown) return schema === base(schema) ? undefined : given;
    if (shown && typeof given === 'string' && given.includes(mask)) {
      const detail = `hides a secret (${mask}) of another address: send it in full, or null to remove it`;
      problems.push({ pointer: at, detail });
    }
    return given;
  };

  /** Headers: their names are the same in either case, and those not named are kept. */
  const ofRecord = (type: z.ZodRecord, given: JsonObject, stored: JsonObject, at: string): JsonObject => {
    const before = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
    const named = new Set(Object.keys(given).map((name) => name.toLowerCase()));
    const left = Object.entries(stored).filter(([name]) => !named.has(name.toLowerCase()));
    kept += left.length;
    const sent = Object.entries(given).filter(([, value]) => value !== null);
    const values = sent.map(([name, value]) => [name, walk(type.valueType, value, before.get(name.toLowerCase()), at)]);
    return Object.fromEntries([...left, ...values]);
  };

  return { value: walk(root, given, stored, ''), problems };
}

/** Where settings with a `baseUrl` send their secrets. */
function destination({ kind, baseUrl }: JsonObject): string {
  return JSON.stringify([kind, typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined]);
}

/** Without what makes it optional. */
function base(schema: Schema): Schema {
  const optional = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return optional ? base(schema.unwrap()) : schema;
}

/** Whether `null` removes it: where its schema takes that, and what is optional in a section of settings. */
function isRemovable(schema: Schema, at: string): boolean {
  const accepts = (value: null | undefined) => z.safeParse(schema, value).success;
  return accepts(null) || (at.lastIndexOf('/') > 0 && accepts(undefined));
}

/** Of a union, the option of which the value is. */
function variant(schema: Schema, value: JsonObject): Schema | undefined {
  const type = base(schema);
  if (!(type instanceof z.ZodDiscriminatedUnion)) return type;
  const { discriminator } = type.def;
  const hasTag = (tag: Schema | undefined) => tag && z.safeParse(tag, value[discriminator]).success;
  return type.options.find((option) => hasTag(fieldOf(option, discriminator)));
}

function fieldOf(type: Schema | undefined, name: string): Schema | undefined {
  if (type instanceof z.ZodRecord) return type.valueType;
  return type instanceof z.ZodObject && Object.hasOwn(type.shape, name) ? type.shape[name] : undefined;
}

function holds(schema: Schema, isMarked: (type: Schema) => boolean): boolean {
  const type = base(schema);
  const inner = (schema: Schema) => holds(schema, isMarked);
  if (isMarked(type)) return true;
  if (type instanceof z.ZodObject) return Object.values(type.shape).some(inner);
  if (type instanceof z.ZodRecord) return inner(type.valueType);
  return type instanceof z.ZodDiscriminatedUnion && type.options.some(inner);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
