/** The definition of an action: its fields in the request, and its effect. */

import { z } from 'zod';
import { unsubstituted } from './text.js';

/** `readRequest` has already turned booleans and numbers into text, except numbers beyond the safe integers. */
export const text = z.string({
  error: ({ input }) => {
    if (input === undefined) return 'is required';
    return typeof input === 'number' ? 'is a number too large to be read exactly: send it as a string' : 'must be a string';
  },
});

export const shortText = (most: number) => text.max(most, `must have at most ${most} characters`);

/** @param wrong - describes a mistake in a text. Not called if the text has over `most` characters or a `${variable}`. */
export function ruledText(most: number, wrong: (text: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const tooLong = value.length > most ? `must have at most ${most} characters` : undefined;
    const error = tooLong ?? (unsubstituted(value) ? undefined : wrong(value));
    if (error !== undefined) context.addIssue(error);
  });
}

/** Collects problems and warnings about an action. `field` is the field's name, or `name/0` for an element of an array. */
export interface Issues {
  /** A mistake in the rule. The relay rejects the request (400). Not for mistakes in one field: its schema reports them. */
  problem(field: string, detail: string): void;
  /** A mistake in the event's data. The action will need attention. If `detail` is undefined, there is no mistake. */
  mistake(field: string, detail: string | undefined): void;
  /** A possible mistake. The action still runs. */
  warning(field: string, detail: string): void;
}

/** The result of a dry run: the effect, or the problem that prevents the effect. */
type Preview<Shown = Record<string, unknown>> = { effect: Shown } | { obstacle: string };

export interface ActionDefinition<Effect = unknown> {
  name: string;
  description: string; // one line, for the docs
  needsAssignment: boolean; // whether `platformAssignmentId` is required
  fields: z.ZodRawShape; // the fields of this action alone, without `commonFields`
  /** Fields that the effect contains unchanged, and their names in the effect. The relay stores these fields only once. */
  verbatim?: Readonly<Record<string, string>>;
  effect: z.ZodObject; // the schema of the effect in a dry run
  preview(effect: Effect, timeZone: string): Preview;
  /** @returns undefined if a field is missing or has the wrong type. */
  parse(fields: Record<string, unknown>, issues: Issues): Effect | undefined;
}

/** `read` gets the parsed fields. Without `preview`, a dry run shows the effect itself. */
export function defineAction<
  Name extends string,
  Fields extends z.ZodRawShape,
  Shown extends z.ZodObject,
  Effect extends z.infer<Shown>,
>({
  read,
  preview,
  ...definition
}: Omit<ActionDefinition, 'parse' | 'preview'> & {
  name: Name;
  fields: Fields;
  effect: Shown;
  read(fields: z.infer<z.ZodObject<Fields>>, issues: Issues): Effect;
  preview?(effect: Effect, timeZone: string): Preview<z.infer<Shown>>;
}): ActionDefinition<{ action: Name } & Effect> {
  const schema = z.object(definition.fields);
  return {
    ...definition,
    preview: preview ?? ((effect) => ({ effect: definition.effect.parse(effect) })),
    parse(fields, issues) {
      const parsed = parseFields(schema, fields, issues);
      return parsed && { action: definition.name, ...read(parsed, issues) };
    },
  };
}

/** Reports the schema's issues as problems. */
export function parseFields<Parsed>(schema: z.ZodType<Parsed>, fields: unknown, issues: Issues): Parsed | undefined {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) issues.problem(issue.path.join('/'), issue.message);
  return undefined;
}
