import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import type { ChainAction } from '../../../src/chain/chain.js';
import { afterEdit, changesOf, editedAction, editRefusal, problemsText } from '../../../src/chain/edits.js';

const status: ActionStatus = { index: 0, action: 'ticket_updateUDF', relayId: '7', state: 'needs-attention' };
const action = { index: 0, relayId: '7', action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' } as ChainAction;
const edit = (number: number, fields: Record<string, string> = {}) => ({ number, fields });

it('the changes of an action are its applied edits in order, and then the new edit', () => {
  const edits = [edit(1, { a: '1', b: '1' }), edit(2, { a: '2' }), edit(3, { a: '3' })];
  assert.deepEqual(changesOf(edits, { ...status, mends: [1, 3] }), { a: '3', b: '1' });
  assert.deepEqual(changesOf(edits, status, edit(4, { a: '4' })), { a: '4' });
});

describe('an edit', () => {
  const unknown = { ...status, error: { type: 'Timeout', message: 'm', retryable: true, unknown: true } };

  it('is refused if it has already been applied', () =>
    assert.equal(editRefusal(edit(2), { ...status, mends: [1, 2] }), 'this edit has already been applied'));
  it('is refused after an unknown outcome, unless it is confirmed', () => {
    assert.match(editRefusal(edit(1), unknown) ?? '', /nobody knows/);
    assert.equal(editRefusal({ ...edit(1), confirmUnknown: true }, unknown), undefined);
  });
  it('is accepted in all other cases', () => assert.equal(editRefusal(edit(2), { ...status, mends: [1] }), undefined));

  it('drops the data of the earlier key, but keeps the record of sent copies', () => {
    const [sent, missed] = [
      { recipient: 'a@x.example', sent: true },
      { recipient: 'b@x.example', sent: false },
    ];
    const before = { ...status, mends: [1], kept: 'data', deliveries: [sent, missed] };
    const expected = { comment: 'c', assignmentId: '9', mends: [1, 4], kept: undefined, late: undefined, deliveries: [sent] };
    assert.deepEqual(afterEdit(before, edit(4), { ...action, comment: 'c', assignmentId: '9' }), expected);
  });

  it('keeps the fields that did not change, and no others', () =>
    assert.deepEqual(editedAction(action, { incomingValue: 'w' }, ['index', 'relayId', 'action']), {
      index: 0,
      relayId: '7',
      action: 'ticket_updateUDF',
      incomingValue: 'w',
    }));
});

it('problems as one text', () => {
  const problems = [
    { pointer: '/a', detail: 'is blank' },
    { pointer: '', detail: 'is too long' },
  ];
  assert.equal(problemsText(problems), '/a is blank; is too long');
});
