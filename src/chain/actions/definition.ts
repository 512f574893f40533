/** How an action is defined: its fields as they arrive, and how they are read into a task. */

import { z } from 'zod';
import { unsubstituted } from '../text.js';

/** A field's text. A JSON boolean has been made its text before, and so has a number unless it is beyond the safe integers. */
export const text = z.string({
  error: ({ input }) => {
    if (input === undefined) return 'is required';
    return typeof input === 'number' ? 'is a number too large to be read exactly: send it as a string' : 'must be a string';
  },
});

/** A text of at most so many characters. */
export function shortText(length: number) {
  return text.max(length, `must have at most ${length} characters`);
}

/** A text with a rule: `wrong` says what breaks it. Where a `${variable}` is left there is nothing to judge yet: that is for `read`. */
export function ruledText(wrong: (text: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const error = unsubstituted(value) ? undefined : wrong(value);
    if (error !== undefined) context.addIssue(error);
  });
}

/** Where reading an action reports what it finds. `field` is the field's name, or `name/0` for an element. */
export interface Issues {
  /** Wrong in the rule itself: rejects the request with 400. What one field says wrong belongs in its schema, so that all is named at once. */
  problem(field: string, detail: string): void;
  /** Wrong in the event's data: the action will need attention. */
  mistake(field: string, detail: string): void;
  /** Worth knowing, changes nothing. */
  warning(field: string, detail: string): void;
}

/** What an action would do, to whom, with what: for a dry run. `obstacle`: why its effect could not even be attempted. */
export type Preview<Effect = Record<string, unknown>> = { effect: Effect } | { obstacle: string };

export interface ActionDefinition<Task = unknown> {
  name: string;
  /** One line for the docs: what it does. */
  description: string;
  /** Whether it does something to an assignment, so that `platformAssignmentId` is required. */
  needsAssignment: boolean;
  /** The one of the company's systems that it acts on. */
  system: 'platform' | 'ticketing' | 'mail';
  /** The action's own fields, beside the common ones. */
  fields: z.ZodRawShape;
  /** What a preview tells; a loose object, so that those of all actions can stand in one union. */
  effect: z.ZodObject;
  /** @param timeZone - of the company. */
  preview(task: Task, timeZone: string): Preview;
  /** Reads the fields into the task; undefined where one is missing or of the wrong type. Whatever is amiss goes to `issues`. */
  parse(fields: Record<string, unknown>, issues: Issues): Task | undefined;
}

/** Defines an action: `read` gets the fields well-typed and turns them into the task. */
export function defineAction<Fields extends z.ZodRawShape, Effect extends z.ZodObject, Task extends { action: string }>({
  read,
  ...definition
}: Omit<ActionDefinition<Task>, 'parse'> & {
  name: Task['action'];
  fields: Fields;
  effect: Effect;
  read(fields: z.infer<z.ZodObject<Fields>>, issues: Issues): Task;
  preview(task: Task, timeZone: string): Preview<z.infer<Effect>>;
}): ActionDefinition<Task> {
  const schema = z.object(definition.fields);
  return {
    ...definition,
    parse(fields, issues) {
      const parsed = parseFields(schema, fields, issues);
      return parsed && read(parsed, issues);
    },
  };
}

/** `schema.safeParse`, its issues reported as problems. */
export function parseFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: unknown,
  issues: Issues,
): z.infer<Schema> | undefined {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) issues.problem(issue.path.join('/'), issue.message);
  return undefined;
}
