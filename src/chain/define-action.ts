/** How an action is defined: its fields in the request, and the effect that they ask for. */

import { z } from 'zod';
import type { Connector } from './pause.js';
import { unsubstituted } from './text.js';

/** A field's text. `readRequest` has made booleans and numbers their text before, except numbers beyond the safe integers. */
export const text = z.string({
  error: ({ input }) => {
    if (input === undefined) return 'is required';
    return typeof input === 'number' ? 'is a number too large to be read exactly: send it as a string' : 'must be a string';
  },
});

/** @param most - characters. */
export function shortText(most: number) {
  return text.max(most, `must have at most ${most} characters`);
}

/**
 * @param most - characters; a longer text is looked at no further.
 * @param wrong - what is wrong with a text. Not asked where a `${variable}` is left: that is a mistake in the event's data.
 */
export function ruledText(most: number, wrong: (text: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const tooLong = value.length > most ? `must have at most ${most} characters` : undefined;
    const error = tooLong ?? (unsubstituted(value) ? undefined : wrong(value));
    if (error !== undefined) context.addIssue(error);
  });
}

/** Takes what is wrong in an action. `field` is the field's name, or `name/0` for an element of an array. */
export interface Issues {
  /** Wrong in the rule itself: rejects the request with 400. What concerns one field alone belongs in its schema. */
  problem(field: string, detail: string): void;
  /** Wrong in the event's data: the action will need attention. Undefined: nothing is wrong. */
  mistake(field: string, detail: string | undefined): void;
  /** Worth knowing; the action runs all the same. */
  warning(field: string, detail: string): void;
}

/** What a dry run tells of an action: its effect, or why that could not even be attempted. */
type Preview<Shown = Record<string, unknown>> = { effect: Shown } | { obstacle: string };

export interface ActionDefinition<Effect = unknown> {
  name: string;
  description: string; // For the docs, in one line.
  needsAssignment: boolean; // Whether `platformAssignmentId` is required.
  system: Connector;
  fields: z.ZodRawShape; // Its own, beside the common ones.
  /** Fields that the effect holds as they were sent, with their names there: what is long is not kept twice. */
  verbatim?: Readonly<Record<string, string>>;
  effect: z.ZodObject; // As a dry run shows it.
  /** @param timeZone - the company's. */
  preview(effect: Effect, timeZone: string): Preview;
  /** @returns the effect; undefined where a field is missing or of the wrong type. */
  parse(fields: Record<string, unknown>, issues: Issues): Effect | undefined;
}

/** `read` gets the fields as their schemas have parsed them. A preview shows the effect unless it says more. */
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

/** `schema.safeParse`; what it finds wrong goes to `issues` as problems. */
export function parseFields<Parsed>(schema: z.ZodType<Parsed>, fields: unknown, issues: Issues): Parsed | undefined {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) issues.problem(issue.path.join('/'), issue.message);
  return undefined;
}
