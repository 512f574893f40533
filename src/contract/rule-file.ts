/** A rule as a YAML file: its fields, test cases and JSON Schema. Text editors use the schema to complete and check the file. */

import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import { commonFields, maxActions } from '../chain/request.js';
import { anyObject, optionalFlag } from './named.js';
import { label } from './notify.js';
import { relayIdText } from './rule.js';
import { contentsSchema } from './rule-contents.js';

/** Fields that an expected action can have, but an action in a request cannot have. */
const expectations = {
  runs: optionalFlag.describe('Whether the action runs: its `if` and its `actionCondition` are true.'),
  needsAttention: z
    .union([z.boolean(), z.string()])
    .optional()
    .describe('Whether the action needs attention. If this is a text, the reason must contain this text.'),
};

const outcomes = ['applies', 'refused', 'actions'] as const;
const caseFields = z.strictObject({
  name: z.string().min(1).optional(),
  event: z.union([anyObject, z.string()]).describe('The event, or the path of a file with the event as JSON.'),
  assignment: anyObject.optional().describe('The assignment on the platform when the actions run.'),
  now: z.iso.datetime({ offset: true }).optional().describe('When the event comes. An action runs after its delay.'),
  applies: z.literal(false).optional().describe('The rule does not apply, because `when` is not true.'),
  refused: z
    .union([z.literal(true), z.string()])
    .optional()
    .describe('The event is refused. If this is a text, the reason must contain this text.'),
  actions: z
    .array(z.looseObject(expectations))
    .optional()
    .describe('All actions of the event in their order. Only the fields here are compared.'),
});
export const caseSchema = caseFields.refine(
  (fields) => outcomes.filter((outcome) => fields[outcome] !== undefined).length === 1,
  'must have exactly one of the fields applies, refused and actions',
);
export type RuleCase = z.infer<typeof caseSchema>;

/** The fields of the file that are not part of the contents. */
const aboutRule = {
  relayId: relayIdText.optional().describe('The id of the rule. The first push of a new rule adds it.'),
  name: label.describe('The name of the rule. It is used when a push creates the rule.'),
  version: z
    .int()
    .min(1)
    .optional()
    .describe('The published version that the file came from. A push is refused if a newer version is published.'),
};
export const ruleFileSchema = z.object({ ...aboutRule, cases: z.array(caseSchema).default([]) });

const { relayId: _, relayAccessToken: __, action: ___, ...commonOptions } = commonFields;

/** JSON Schema, draft 7, which every editor knows. A text may be written without quotes, as a number, `true` or `false`. */
export function ruleFileJsonSchema() {
  const expression = contentsSchema.shape.when.describe(
    'A CEL expression. The action runs only if `if` and `actionCondition` are true.',
  );
  const { platformAssignmentId: assignment } = commonOptions;
  const needed = assignment.unwrap().describe(assignment.description ?? '');
  const actions = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
    const platformAssignmentId = needsAssignment ? needed : assignment;
    const common = { action: z.literal(name), ...commonOptions, platformAssignmentId, if: expression };
    return z.strictObject({ ...common, ...fields }).meta({ title: name, description });
  });
  const fields = Object.assign({}, commonOptions, ...actionDefinitions.map(({ fields }) => fields));
  const { shape } = z.object({ action: commonFields.action, ...fields });
  const nullish = Object.entries(shape).map(([name, type]) => [name, z.nullish(type)]);
  const expected = z.strictObject({ ...expectations, ...Object.fromEntries(nullish) });
  const file = z.strictObject({
    ...aboutRule,
    ...contentsSchema.shape,
    actions: z
      .array(z.union(actions))
      .min(1)
      .max(maxActions)
      .describe(contentsSchema.shape.actions.description ?? ''),
    cases: z.array(caseFields.extend({ actions: z.array(expected).optional() })).optional(),
  });
  return z.toJSONSchema(file.meta({ title: 'A rule of the relay' }), {
    target: 'draft-7',
    io: 'input',
    override({ jsonSchema, path }) {
      const isText = jsonSchema.type === 'string' && !jsonSchema.enum && jsonSchema.const === undefined;
      if (isText && path.at(-1) !== 'propertyNames') Object.assign(jsonSchema, { type: ['string', 'number', 'boolean'] });
    },
  });
}
