import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sameAssignment } from '../../../src/chain/edits.js';
import { type Fields, fieldsNaming, mergeFields } from '../../../src/chain/fields.js';
import { mendAction, newRecipients } from '../../../src/chain/mend.js';
import { readRequest } from '../../../src/chain/request.js';
import { fieldsOf } from '../../../src/chain/sent.js';
import { eventAction } from '../../chain/event-actions.js';

const send = { action: 'platform_sendAssignment', relayId: '7', platformAssignmentId: '1001' };
const mail = { action: 'sendEmails', relayId: '7', emails: ['a@x.org'], subject: 's', body: 'b', bodyHtml: 'h' };
const ticket = { action: 'ticket_updateUDF', relayId: '7', externalSystemTicketId: 'T-1', cfName: 'F', cfValue: 'v' };

function accepted(fields: Fields) {
  const read = readRequest([{ ...fields, relayAccessToken: 'a-token' }]);
  assert(read.ok, JSON.stringify(read));
  return read.actions[0] ?? assert.fail();
}

describe('the other actions with the same assignment', () => {
  const chain = (...ids: (string | undefined)[]) => {
    const fields = ids.map((platformAssignmentId) =>
      platformAssignmentId === undefined ? ticket : { ...send, platformAssignmentId },
    );
    return fields.map((one, index) => ({ ...accepted(one), index }));
  };
  const states = (actions: ReturnType<typeof chain>, ...ended: number[]) =>
    actions.map(({ index, assignmentId }) => ({
      index,
      assignmentId,
      state: ended.includes(index) ? ('done' as const) : ('pending' as const),
    }));
  const cases: [title: string, ids: (string | undefined)[], ended: number[], others: number[]][] = [
    ['that have not ended', ['7', '7', '8', '7', undefined], [3], [1]],
    ['if its id was blank: the others with a blank id', [' ', '${id}', '8', undefined], [], [1]],
    ['none', ['7', '8'], [], []],
  ];
  for (const [title, ids, ended, others] of cases)
    it(title, () => assert.deepEqual(sameAssignment(chain(...ids), states(chain(...ids), ...ended), 0), others));
});

describe('the fields of an action as they were sent', () => {
  const cases: [title: string, fields: Fields, kept: Fields][] = [
    ['a send', { ...send, delayInSeconds: '60', sendRadius: '25', comment: 'c', incomingValue: 'i' }, {}],
    ['groups', { ...send, groupId: '501', sendToGroups: '502, 503' }, { groupId: '501', sendToGroups: '502, 503' }],
    ['a radius in another notation', { ...send, sendRadius: ' 2.50 ' }, { sendRadius: ' 2.50 ' }],
    ['a delay in another notation', { ...send, delayInSeconds: '060' }, { delayInSeconds: '060' }],
    ['a blank delay', { ...send, delayInSeconds: ' ' }, { delayInSeconds: ' ' }],
    ['a condition', { ...send, actionCondition: 'status=="draft"' }, { actionCondition: 'status=="draft"' }],
    ['an assignment that was not substituted', { ...send, platformAssignmentId: '${id}' }, { platformAssignmentId: '${id}' }],
    ['an e-mail', mail, {}],
    ['a list of addresses', { ...mail, emails: ['a@x.org, b@x.org', ''] }, { emails: ['a@x.org, b@x.org', ''] }],
    ['a ticket', { ...ticket, cfTargetDateFormat: 'yyyy' }, {}],
    ['a blank ticket', { ...ticket, externalSystemTicketId: ' ' }, { externalSystemTicketId: ' ' }],
  ];
  for (const [title, fields, kept] of cases)
    it(`are kept once: ${title}`, () => {
      const action = accepted(fields);
      assert.deepEqual(action.sent, kept);
      assert.deepEqual(fieldsOf(action), fields);
    });

  it('are texts, without the token and ignored fields', () => {
    const action = accepted({ ...send, sendRadius: 25, delayInSeconds: 60, elsewhere: 'x' });
    assert.deepEqual(fieldsOf(action), { ...send, sendRadius: '25', delayInSeconds: '60' });
    assert(!JSON.stringify(action).includes('a-token'));
  });

  it('have the comment as it is shown', () => {
    assert.equal(String(fieldsOf(accepted({ ...send, comment: 'x'.repeat(5000) })).comment).length, 1000);
  });

  it('parse to the same action again, for any values', () => {
    const blank = fc.constantFrom('', ' ', '${id}', '1', ' 1 ', '01', 'a,b', ',');
    const own = { groupId: blank, sendToGroups: blank, sendRadius: blank, delayInSeconds: blank, comment: blank };
    fc.assert(
      fc.property(fc.record(own, { requiredKeys: [] }), (fields) => {
        const read = readRequest([{ ...send, ...fields, relayAccessToken: '' }]);
        if (!read.ok) return;
        const [action = assert.fail()] = read.actions;
        assert.deepEqual(fieldsOf(action), { ...send, ...fields });
        assert.deepEqual(accepted(fieldsOf(action)), action);
      }),
    );
  });
});

describe('mendAction', () => {
  const cases: [title: string, fields: Fields, changes: Fields, mended: object][] = [
    ['an address', { ...mail, emails: ['ada'] }, { emails: ['ada@x.org'] }, { recipients: ['ada@x.org'] }],
    [
      'one of two fields that form one list',
      { ...send, groupId: '501', sendToGroups: '502' },
      { groupId: '500' },
      { groupIds: ['500', '502'] },
    ],
    ['a number', send, { sendRadius: 5 }, { radiusMiles: 5 }],
    ['a removed field', { ...send, sendRadius: '5' }, { sendRadius: null }, { radiusMiles: undefined }],
    ['a ticket', { ...ticket, externalSystemTicketId: '${t}' }, { externalSystemTicketId: 'T-2' }, { ticketId: 'T-2' }],
    ['a blank delay', { ...send, delayInSeconds: '' }, { delayInSeconds: '60' }, { delaySeconds: 60 }],
    [
      'a blank assignment',
      { ...send, platformAssignmentId: '' },
      { platformAssignmentId: '1002' },
      { assignmentId: '1002', invalidData: undefined },
    ],
  ];
  for (const [title, fields, changes, expected] of cases)
    it(`mends ${title}`, () => {
      const before = { ...accepted(fields), index: 3 };
      const read = mendAction(before, changes);
      assert(read.ok, JSON.stringify(read));
      assert.deepEqual({ ...read.action, ...expected }, read.action);
      assert.deepEqual([read.action.index, read.action.relayId, read.action.sent], [3, '7', before.sent]);
      assert.equal(read.action.cannotSchedule, undefined);
    });

  const refused: [title: string, fields: Fields, changes: Fields, problems: string[]][] = [
    ['nothing', send, {}, [': has no changes: give a new value to at least one field']],
    ['an unchanged value', send, { action: 'sendEmails' }, ['/action: cannot be changed here: send a new request']],
    ['its rule', send, { relayId: '8' }, ['/relayId: cannot be changed here: send a new request']],
    ['a token', send, { relayAccessToken: 't' }, ['/relayAccessToken: cannot be changed here: send a new request']],
    [
      'a valid delay',
      { ...send, delayInSeconds: '60' },
      { delayInSeconds: '0' },
      ['/delayInSeconds: cannot be changed, because the request already gave a time to wait: reschedule the step'],
    ],
    [
      'a delay that was not sent',
      send,
      { delayInSeconds: '60' },
      ['/delayInSeconds: cannot be changed, because the request already gave a time to wait: reschedule the step'],
    ],
    ['a field of another action', send, { subject: 's' }, ['/subject: is not a field of platform_sendAssignment']],
    ['a misspelt field', send, { sendRadios: '5' }, ['/sendRadios: is not a field; did you mean sendRadius?']],
    ['a mistake in the rule', send, { sendRadius: 'far' }, ['/sendRadius: must be a number of miles, such as "25" or "2.5"']],
    ['a removed required field', mail, { subject: null }, ['/subject: is required']],
    ['a value that would be held again', ticket, { cfValue: '${v}' }, ['/cfValue: has ${v}, which the webhook did not fill in']],
    [
      'one mistake of two',
      { ...ticket, externalSystemTicketId: '', cfName: '' },
      { cfName: 'F' },
      ['/externalSystemTicketId: is blank'],
    ],
    ['too much', mail, { body: 'x'.repeat(300_000) }, [': must be shorter: all fields together can have at most 256 KiB']],
    ['a list of lists', mail, { emails: [['a@x.org']] }, ['/emails/0: must be a string']],
  ];
  for (const [title, fields, changes, problems] of refused)
    it(`refuses ${title}`, () => {
      const read = mendAction(accepted(fields), changes);
      assert(!read.ok);
      assert.deepEqual(
        read.problems.map(({ pointer, detail }) => `${pointer}: ${detail}`),
        problems,
      );
    });

  it('refuses an action that has no stored fields', () => {
    const { sent: _, ...before } = accepted(send);
    const read = mendAction(before, { sendRadius: '5' });
    assert(!read.ok);
    assert.match(read.problems[0]?.detail ?? '', /send the request again/);
  });

  it('survives every JSON value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys({ ...mail, ...ticket }), 'x', ''), fc.jsonValue()), (changes) => {
        const read = mendAction(accepted(mail), changes);
        if (!read.ok) assert(read.problems.length > 0);
      }),
    );
  });
});

it('new recipients are addresses that the action did not have, in any spelling', () => {
  const before = accepted({ ...mail, emails: ['a@x.org', 'Bo <b@x.org>'] });
  const after = accepted({ ...mail, emails: ['Ada <A@x.org>, c@x.org', 'd@x.org'] });
  assert.deepEqual(newRecipients(before, after), ['c@x.org', 'd@x.org']);
  assert.deepEqual(newRecipients(accepted(ticket), accepted(ticket)), []);
});

describe('mergeFields', () => {
  it('replaces, adds and removes', () =>
    assert.deepEqual(mergeFields({ a: '1', b: '2' }, { a: null, b: '3', c: '4' }), { b: '3', c: '4' }));
});

describe('an edit of an action that was made from an event', () => {
  const [{ relayId: _, ...one }, { relayId: __, ...letter }] = [ticket, mail];
  const late = { ...one, platformAssignmentId: '1', cfName: 'F $${x}', cfValue: 'is ${assignment.title}' };
  const mended = (action: ReturnType<typeof eventAction>, changes: Fields) => {
    const read = mendAction(action, changes);
    return read.ok ? read.action : read.problems;
  };

  it('keeps the late texts that it does not change, the expression, and data that looks like a variable', () => {
    const action = eventAction({ ...late, actionCondition: 'status==draft', if: 'event.n > 3' }, { index: 2 });
    const changed = mended(action, { externalSystemTicketId: 'T-2', actionCondition: 'status==sent' });
    assert(!Array.isArray(changed) && changed.action === 'ticket_updateUDF');
    assert.deepEqual([changed.ticketId, changed.field, changed.late], ['T-2', 'F ${x}', action.late]);
    assert.deepEqual(changed.condition?.opaque, {
      condition: { path: ['status'], operator: '==', value: 'sent' },
      if: { text: 'event.n > 3', event: { n: 4 } },
      late: true,
    });
    assert.deepEqual([changed.index, changed.unfilled, changed.sent], [2, [], action.sent]);
  });

  it('replaces a late text by a fixed text; the condition then has no opaque part', () => {
    const action = eventAction({ ...late, actionCondition: 'status==draft' });
    const changed = mended(action, { cfValue: 'is ${anything}' });
    assert(!Array.isArray(changed) && changed.action === 'ticket_updateUDF');
    assert.deepEqual([changed.value, changed.late], ['is ${anything}', undefined]);
    assert.deepEqual(changed.condition, { path: ['status'], operator: '==', value: 'draft' });
    assert.equal((mended(eventAction(late), { cfValue: 'v' }) as { condition?: unknown }).condition, undefined);
  });

  it('may repeat a late text, but not change the text around a reference', () => {
    const action = eventAction(late);
    const same = mended(action, { cfValue: 'is ${assignment.title}', cfName: 'G' });
    assert.deepEqual((same as { late?: unknown }).late, action.late);
    const detail =
      'must not contain ${assignment.title}: in an edited step, the relay does not replace it with the real value. Write the real value';
    assert.deepEqual(mended(action, { cfValue: 'was ${assignment.title}' }), [{ pointer: '/cfValue', detail }]);
  });

  it('must replace each value that the event does not have', () => {
    const action = eventAction({ ...letter, subject: 'About ${event.note}' });
    const missing = [{ pointer: '/subject', detail: 'contains ${event.note}, which has no value' }];
    assert.deepEqual(mended(action, { body: 'other' }), missing);
    assert.deepEqual(mended(action, { subject: 'Still about ${event.note}' }), missing);
    const changed = mended(action, { subject: 'About ${x}' });
    assert.deepEqual((changed as { subject?: string }).subject, 'About ${x}');
  });
});

it('texts that contain the assignment id as a whole word are named, with another id in its place', () => {
  const fields = {
    ...{
      action: 'sendEmails',
      relayId: '1001',
      platformAssignmentId: '1001',
      subject: 'Nobody for 1001',
      body: 'Call <b>1001</b>.',
    },
    ...{ emails: ['a1001@b.example', '10012@c.example'], comment: 'For ${assignment.1001x}' },
  };
  assert.deepEqual(fieldsNaming('1001', fields, '$&2'), { subject: 'Nobody for $&2', body: 'Call <b>$&2</b>.' });
  assert.deepEqual(fieldsNaming('', fields), {});
  assert.deepEqual(fieldsNaming('a.1', { body: 'a.1, aa1, xa.1' }, 'b'), { body: 'b, aa1, xa.1' });
});
