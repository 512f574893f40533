/** The JSON Schema of rule files must accept and refuse the same examples as the validation of the relay. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { actionDefinitions } from '../../../src/chain/actions.js';
import { contentsSchema } from '../../../src/contract/rule-contents.js';
import { ruleFileJsonSchema, ruleFileSchema } from '../../../src/contract/rule-file.js';
import { checkContents } from '../../../src/rules/contents.js';

const schema = ruleFileJsonSchema();
const validate = new Ajv({ allowUnionTypes: true, allErrors: true, validateFormats: false }).compile(schema);

const send = { action: 'platform_sendAssignment', platformAssignmentId: '${assignment_id}' };
const mail = { action: 'sendEmails', emails: ['a@acme.example'], subject: 's', body: 'b', bodyHtml: '<p>b</p>' };
const field = { action: 'ticket_updateUDF', externalSystemTicketId: '${event.ticket}', cfName: 'Arrival', cfValue: '1' };
const variables = { assignment_id: { path: 'workorder.id' } };
const rule = { name: 'Widen', variables, actions: [send] };

const right: Record<string, object> = {
  'the least': rule,
  everything: {
    ...rule,
    relayId: '4711',
    version: 3,
    when: 'event.status == "created"',
    variables: { assignment_id: { path: 'a[0].b', missing: 'refuse' }, note: { path: 'note', missing: 'default', default: '' } },
    actions: [
      { ...send, sendRadius: '5', groupId: '1', sendToGroups: '1,2', comment: 'c' },
      {
        ...mail,
        delayInSeconds: '1800',
        if: 'assignment.status == "draft"',
        actionCondition: 'status==draft',
        platformAssignmentId: '1',
      },
      { ...field, cfTargetDateFormat: 'yyyy', incomingValue: 'x' },
    ],
    cases: [
      { event: { id: 1 }, applies: false },
      { name: 'refused', event: 'events/1.json', now: '2026-07-01T12:00:00Z', refused: 'no value' },
      {
        event: {},
        assignment: { status: 'draft' },
        actions: [{ runs: true, sendRadius: '5', groupId: null }, { needsAttention: 'x' }, {}],
      },
    ],
  },
};

const wrong: Record<string, object> = {
  'no name': { ...rule, name: undefined },
  'a blank name': { ...rule, name: '' },
  'a wrong id': { ...rule, relayId: 'x' },
  'a wrong version': { ...rule, version: 0 },
  'an unknown field': { ...rule, action: [] },
  'no actions': { ...rule, actions: [] },
  'an unknown action': { ...rule, actions: [{ ...send, action: 'sendAssignment' }] },
  'a missing field': { ...rule, actions: [{ ...mail, subject: undefined }] },
  'a missing assignment': { ...rule, actions: [{ action: send.action }] },
  'a misspelt field': { ...rule, actions: [{ ...send, sendRadios: '5' }] },
  'the token': { ...rule, actions: [{ ...send, relayAccessToken: 'rlt_x' }] },
  'a text in place of a list': { ...rule, actions: [{ ...mail, emails: 'a@acme.example' }] },
  'a list in place of a text': { ...rule, actions: [{ ...mail, body: ['b'] }] },
  'a long expression': { ...rule, when: 'true || '.repeat(200) },
  'a variable without a path': { ...rule, variables: { assignment_id: {} } },
  'an invalid value of `missing`': { ...rule, variables: { assignment_id: { path: 'a', missing: 'ignore' } } },
  'a wrong name of a variable': { ...rule, variables: { ...variables, '1st': { path: 'a' } } },
  'a case without an event': { ...rule, cases: [{ applies: false }] },
  'a case with an unknown field': { ...rule, cases: [{ event: {}, applies: false, expect: [] }] },
};

/** Checks a file as `relay rules test` and `relay rules push` do. */
function isAccepted(file: object): boolean {
  const { relayId, name, version, cases, ...contents } = JSON.parse(JSON.stringify(file));
  return ruleFileSchema.safeParse({ relayId, name, version, cases }).success && checkContents(contents, { relayId: '1' }).ok;
}

describe('the JSON Schema of a rule as a file', () => {
  for (const [what, file] of Object.entries(right))
    it(`accepts what the relay accepts: ${what}`, () => {
      assert.ok(validate(JSON.parse(JSON.stringify(file))), JSON.stringify(validate.errors, undefined, 1));
      assert.ok(isAccepted(file));
    });

  for (const [what, file] of Object.entries(wrong))
    it(`refuses what the relay refuses: ${what}`, () => {
      assert.equal(validate(JSON.parse(JSON.stringify(file))), false);
      assert.equal(isAccepted(file), false);
    });

  it('allows texts without quotation marks', () => {
    const file = { ...rule, relayId: 4711, actions: [{ ...send, sendRadius: 5, delayInSeconds: 1800 }] };
    assert.ok(validate(file), JSON.stringify(validate.errors));
  });

  it('has every field of the contents and of each action, with its description', () => {
    const text = JSON.stringify(schema);
    const fields = actionDefinitions.flatMap(({ fields }) => Object.values(fields));
    for (const { description = '' } of [...fields, ...Object.values(contentsSchema.shape)].map((type) => ({
      description: (type as { description?: string }).description,
    })))
      assert.ok(description !== '' && text.includes(JSON.stringify(description)), description);
    assert.doesNotMatch(text, /relayAccessToken":/);
  });
});
