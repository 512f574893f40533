/**
 * Secrets in settings are write-only. The schema marks secret fields. Instead of a secret, an answer shows `***`, or an address
 * with `***` in it. If a request omits a secret, or sends the shown text, the relay keeps the stored secret. If such a
 * request changes the address of the system, the relay refuses it, so that no secret goes to another host. `null` removes a secret.
 */

import { z } from 'zod';
import { type Fields, isObject } from '../chain/fields.js';
import type { Issue } from '../chain/request.js';

export const mask = '***';

type Schema = z.core.$ZodType;

/** `shown`: returns the text that answers show instead of the secret. Default: `***`. */
type Secret = { shown?(value: string): string };
const secrets = z.registry<Secret>();
const personal = z.registry<{ personal: true }>();

export function secret<Field extends z.ZodType<string>>(schema: Field, shown?: Secret['shown']): Field {
  const marked = schema.clone(); // Marks a copy, because other fields with the same schema can be public.
  secrets.add(marked, { shown });
  return marked;
}

/** Marks a field that may describe people, such as an address. The store encrypts the field, but the API's answers show it. */
export function encrypted<Field extends z.ZodType>(schema: Field): Field {
  const marked = schema.clone();
  personal.add(marked, { personal: true });
  return marked;
}

export function redact<Noun extends z.ZodType>(schema: Noun, value: z.infer<Noun>): z.infer<Noun> {
  return mapSecrets(schema, value, (text, { shown = () => mask }) => shown(text));
}

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

/** Maps the value of every field that the store encrypts. @param map - `at` is the path, such as `platform/auth/token`. */
export function mapEncrypted(schema: z.ZodObject, fields: object, map: (value: unknown, at: string) => unknown): object {
  const mapped = mapFields(schema, fields, (type, inner, at) => {
    const isGiven = inner !== undefined && inner !== null;
    return isGiven && isEncrypted(type) ? { value: map(inner, at.slice(1)) } : undefined;
  });
  return mapped as object;
}

/** The names of the fields that are encrypted, or that have encrypted parts. */
export function encryptedFields({ shape }: z.ZodObject): string[] {
  return Object.keys(shape).filter((name) => shape[name] && holds(shape[name], isEncrypted));
}

/** `describe` makes a clone of a marked schema. `get` finds the mark for the clone, too, but `has` does not find it. */
const isSecret = (type: Schema) => secrets.get(type) !== undefined;
const isEncrypted = (type: Schema) => isSecret(type) || personal.get(type) !== undefined;

/** @param replace - returns the replacement of a value; undefined to look at the parts of the value. */
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

/** Replaces the stored value, but keeps secrets, and sections with secrets, that the request omits. */
export const replaceKeepingSecrets: Merge = (...settings) => merge(...settings, false);

/** Applies a JSON merge patch (RFC 7396). If the `type` of a section changes, the old fields of that section are dropped. */
export const mergePatch: Merge = (...settings) => merge(...settings, true);

/** @returns the merged value, which is not validated yet, and a problem for each secret that cannot be kept. */
function merge(root: z.ZodType, given: unknown, stored: unknown, patch: boolean) {
  const problems: Issue[] = [];
  let kept = 0; // the number of stored secrets that were kept so far

  const walk = (schema: Schema, given: unknown, stored: unknown, at: string): unknown => {
    if (given === null) return isRemovable(schema, at) ? undefined : null;
    const secretive = holds(schema, isSecret);
    if (given === undefined) {
      if (secretive && stored !== undefined) kept += 1;
      return secretive || patch ? stored : undefined;
    }
    const type = base(schema);
    const mark = secrets.get(type);
    if (mark) return ofSecret(schema, mark.shown, given, stored, at);
    if (!isObject(given)) return given;
    if (type instanceof z.ZodRecord && (secretive || patch)) return ofRecord(type, given, isObject(stored) ? stored : {}, at);
    const option = variant(type, patch && isObject(stored) ? { ...stored, ...given } : given);
    if (!(option instanceof z.ZodObject)) return given;
    const before = isObject(stored) && variant(type, stored) === option ? stored : {};
    let carried: string | undefined;
    const fields = Object.keys({ ...option.shape, ...given }).flatMap((name) => {
      const field = fieldOf(option, name);
      if (!field) return given[name] === null && at !== '' ? [] : [[name, given[name]]];
      const [already, inner] = [kept, walk(field, given[name], before[name], `${at}/${name}`)];
      if (kept > already) carried = name;
      return inner === undefined ? [] : [[name, inner]];
    });
    const merged: Fields = Object.fromEntries(fields);
    if (carried && destination(merged) !== destination(before)) {
      const detail = 'must be entered again, because the stored secret belongs to another address; null removes it';
      problems.push({ pointer: `${at}/${carried}`, detail });
    }
    return merged;
  };

  const ofSecret = (schema: Schema, shown: Secret['shown'], given: unknown, stored: unknown, at: string): unknown => {
    if (typeof stored === 'string' && given === (shown ? shown(stored) : mask)) {
      kept += 1;
      return stored;
    }
    // The request sends `***`, but no secret is stored: a required secret counts as missing, an optional secret fails its check.
    if (given === mask && !shown) return schema === base(schema) ? undefined : given;
    if (shown && typeof given === 'string' && given.includes(mask)) {
      const detail = `has ${mask}, but is not the stored address: enter the whole address, or remove it (null)`;
      problems.push({ pointer: at, detail });
    }
    return given;
  };

  /** Ignores upper and lower case in the names of headers. Keeps the headers that the request omits. */
  const ofRecord = (type: z.ZodRecord, given: Fields, stored: Fields, at: string): Fields => {
    const before = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
    const named = new Set(Object.keys(given).map((name) => name.toLowerCase()));
    const left = Object.entries(stored).filter(([name]) => !named.has(name.toLowerCase()));
    if (isSecret(base(type.valueType))) kept += left.length;
    const sent = Object.entries(given).filter(([, value]) => value !== null);
    const values = sent.map(([name, value]) => [name, walk(type.valueType, value, before.get(name.toLowerCase()), at)]);
    return Object.fromEntries([...left, ...values]);
  };

  return { value: walk(root, given, stored, ''), problems };
}

const addresses = ['baseUrl', 'tokenUrl', 'smtpUrl'];
const partsOfAddress = ['kind', 'site', 'instance', 'subdomain'];

/** Returns the addresses that get the secrets of a section, and the settings that are a part of a vendor's address. */
function destination(fields: Fields): string {
  const urls = addresses.map((name) => String(fields[name])).filter((url) => URL.canParse(url));
  const hosts = urls.map((url) => new URL(url)).map(({ protocol, host }) => protocol + host);
  return JSON.stringify([...partsOfAddress.map((name) => fields[name]), ...hosts]);
}

function base(schema: Schema): Schema {
  const optional = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return optional ? base(schema.unwrap()) : schema;
}

/** Whether `null` removes the value: its schema allows null, or the value is an optional field of a section. */
function isRemovable(schema: Schema, at: string): boolean {
  const accepts = (value: null | undefined) => z.safeParse(schema, value).success;
  return accepts(null) || (at.lastIndexOf('/') > 0 && accepts(undefined));
}

/** @returns the schema, or for a union, the option that matches the value. */
function variant(schema: Schema, value: Fields): Schema | undefined {
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
