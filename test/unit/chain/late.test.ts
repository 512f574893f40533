import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '../../../src/chain/condition.js';
import { conditionText, mayAskAssignment } from '../../../src/chain/condition.js';
import { joined, lateQuestion, opaqueCondition, readValues, unread, valueIn, valueText } from '../../../src/chain/late.js';
import { withLate } from '../../../src/chain/mend.js';
import { eventAction } from '../../chain/event-actions.js';

const mail = { action: 'sendEmails', platformAssignmentId: '1', subject: 's', body: 'b', bodyHtml: 'h', emails: ['a@x.org'] };
const send = { action: 'platform_sendAssignment', platformAssignmentId: '1' };
const ticket = { action: 'ticket_updateUDF', platformAssignmentId: '1', externalSystemTicketId: 'T', cfName: 'F', cfValue: 'v' };

describe('a value of the assignment as text', () => {
  const cases: [unknown, string | undefined][] = [
    ['a text', 'a text'],
    ['', ''],
    [5, '5'],
    [2.5, '2.5'],
    [false, 'false'],
    [['a', 1], '["a",1]'],
    [{ a: { b: null } }, '{"a":{"b":null}}'],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [value, text] of cases) it(JSON.stringify(value) ?? 'nothing', () => assert.equal(valueText(value), text));
});

describe('the values of an assignment', () => {
  const assignment = { title: 'Fix ${assignment.note}', site: { zip: 94016, rooms: ['1', '2'] }, none: null };

  it('are read at their paths, and not expanded again', () => {
    const read = readValues(['title', 'site.zip', 'site.rooms[1]'], assignment);
    assert.deepEqual(read, { ok: true, values: { title: assignment.title, 'site.zip': '94016', 'site.rooms[1]': '2' } });
  });

  it('are a mistake if some are missing: all are named', () => {
    const { ok, error } = readValues(['title', 'none', 'site.street', 'constructor', 'site.rooms.length'], assignment);
    assert.equal(ok, false);
    const names = ['none', 'site.street', 'constructor', 'site.rooms.length'].map((path) => `\${assignment.${path}}`);
    assert.equal(error, `the assignment has no value for ${names.join(', ')}`);
  });
});

describe('a late text', () => {
  const text = ['<', 'a', '> and ', 'b.c', ''];

  it('shows its references until they are read', () => assert.equal(unread(text), '<${assignment.a}> and ${assignment.b.c}'));
  it('is joined with its values', () =>
    assert.equal(
      joined(text, (path) => path.toUpperCase()),
      '<A> and B.C',
    ));
  it('lists each path once, and the texts of emails separately', () => {
    const action = eventAction({ ...mail, subject: '${assignment.a} ${assignment.b}', emails: ['${assignment.a}', 'x@y.org'] });
    assert.deepEqual(lateQuestion(action), { paths: ['a', 'b'], emails: [['', 'a', ''], ['x@y.org']] });
    assert.equal(lateQuestion(eventAction(mail)), undefined);
  });
  it('escapes a value in HTML', () => {
    assert.equal(valueIn('bodyHtml', `<a href="x" title='y'>&`, false), '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;');
  });
});

describe('what an activity checks before an action', () => {
  const condition: Condition = { path: ['status'], operator: '==', value: 'draft' };
  const ofEvent = { text: 'event.n > 3', event: { n: 4 } };
  const cases: [name: string, made: Condition | undefined, text: string | undefined, asks: boolean | undefined][] = [
    ['nothing', opaqueCondition({}), undefined, undefined],
    ['only a condition', opaqueCondition({ condition }), 'status==draft', true],
    ['only an expression', opaqueCondition({ if: ofEvent }), 'event.n > 3', false],
    ['only late texts', opaqueCondition({ late: true }), 'the assignment has all needed values', true],
    ['both', opaqueCondition({ condition, if: ofEvent }), '(status==draft) && (event.n > 3)', true],
    [
      'an expression on the assignment',
      opaqueCondition({ if: { text: 'assignment.n > 3', event: {} } }),
      'assignment.n > 3',
      true,
    ],
  ];
  for (const [name, made, text, asks] of cases)
    it(name, () => assert.deepEqual([made && conditionText(made), made && mayAskAssignment(made)], [text, asks]));
});

describe('an action with its values', () => {
  const filled = (fields: Record<string, unknown>, values: Record<string, string>) => {
    const read = withLate(eventAction(fields), values);
    return read.ok ? read.action : read.error;
  };
  const hostile = { a: '<b>"${event.x}"' };

  it('has them as they are in text, and escaped in HTML', () => {
    const action = filled(
      { ...mail, subject: 'S ${assignment.a}', body: '${assignment.a}', bodyHtml: '<p>${assignment.a}' },
      hostile,
    );
    assert(typeof action === 'object' && action.action === 'sendEmails');
    const { subject, body, bodyHtml } = action;
    assert.deepEqual([subject, body, bodyHtml], [`S ${hostile.a}`, hostile.a, '<p>&lt;b&gt;&quot;${event.x}&quot;']);
    assert.deepEqual([action.late, action.index], [undefined, 0]);
  });

  const cases: [name: string, fields: Record<string, unknown>, value: string, seen: Record<string, unknown> | RegExp][] = [
    ['a radius', { ...send, sendRadius: '${assignment.a}' }, ' 2.5', { radiusMiles: 2.5 }],
    ['no radius', { ...send, sendRadius: '${assignment.a}' }, 'far', /^sendRadius must be a number of miles/],
    ['a blank radius', { ...send, sendRadius: '${assignment.a}' }, ' ', /^sendRadius is blank/],
    ['groups', { ...send, sendToGroups: '501,${assignment.a}' }, '502, 501', { groupIds: ['501', '502'] }],
    ['a ticket', { ...ticket, externalSystemTicketId: 'T-${assignment.a}' }, '7', { ticketId: 'T-7' }],
    ['a blank ticket', { ...ticket, externalSystemTicketId: '${assignment.a}' }, '', /^externalSystemTicketId is blank/],
    ['a value that looks like a reference', { ...ticket, cfValue: '${assignment.a}' }, '${b}', { value: '${b}' }],
    ['a format', { ...ticket, cfTargetDateFormat: '${assignment.a}' }, 'yyyy-bb', /^cfTargetDateFormat /],
    [
      'recipients',
      { ...mail, emails: ['${assignment.a}', 'a@x.org'] },
      'b@x.org, A@x.org',
      { recipients: ['b@x.org', 'A@x.org'] },
    ],
    ['no recipient', { ...mail, emails: ['${assignment.a}'] }, 'nobody', /^emails has no valid e-mail address/],
  ];
  for (const [name, fields, value, seen] of cases)
    it(name, () => {
      const action = filled(fields, { a: value });
      if (seen instanceof RegExp) return assert.match(String(action), seen);
      for (const [field, expected] of Object.entries(seen)) assert.deepEqual(Object(action)[field], expected);
    });
});
