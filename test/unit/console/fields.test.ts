import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldAt } from '../../../src/chain/fields.js';
import { partsAt } from '../../../src/chain/text.js';
import { changesOf, editText, formText } from '../../../src/console/fields.js';

const fields = { cfName: 'Sent', ticket: '', emails: ['a@b.example', 'c@d.example'], radius: 25, odd: { a: [1] } };

it('a field is edited as text, a list as lines, anything else as JSON', () => {
  assert.deepEqual(Object.values(fields).map(editText), [
    'Sent',
    '',
    'a@b.example\nc@d.example',
    '25',
    '{\n  "a": [\n    1\n  ]\n}',
  ]);
  assert.deepEqual([editText(undefined), editText(null)], ['', '']);
});

it('a change has only the edited fields, and null for each emptied field', () => {
  const same = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, editText(value)]));
  assert.deepEqual(changesOf(fields, { ...same, missing: '' }), {});
  const edited = { cfName: '', ticket: 'T-42', emails: ' a@b.example\n\n', radius: '50', odd: '{"a": [2]}', cfValue: 'yes' };
  assert.deepEqual(changesOf(fields, edited), {
    cfName: null,
    ticket: 'T-42',
    emails: ['a@b.example'],
    radius: '50',
    odd: { a: [2] },
    cfValue: 'yes',
  });
  assert.deepEqual(changesOf(fields, { odd: '{' }), { odd: '{' });
});

it('a form shows a condition and a delay in words, and a change of them is stored as the API expects', () => {
  const stored = { actionCondition: 'status==draft', delayInSeconds: '1800' };
  const shown = { actionCondition: 'status is draft', delayInSeconds: '30 minutes' };
  assert.deepEqual(Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, formText(name, value)])), shown);
  assert.deepEqual(changesOf(stored, shown), {});
  assert.deepEqual(changesOf(stored, { actionCondition: 'status is not sent', delayInSeconds: '1 h' }), {
    actionCondition: 'status!=sent',
    delayInSeconds: '3600',
  });
});

it('each error is shown beside its field', () => {
  assert.equal(fieldAt({ pointer: '/fields/emails/0' }, '/fields'), 'emails');
  assert.equal(fieldAt({ pointer: '/1/a~1b~0' }, '/1'), 'a/b~');
  for (const pointer of ['/10/cfValue', '/1', '', '/1/']) assert.equal(fieldAt({ pointer }, '/1'), undefined);
});

describe('the mark at the place where a body breaks', () => {
  const rows: [what: string, text: string, offset: number | undefined, parts: [before: string, marked: string, after: string]][] =
    [
      ['at a character', 'a "b" c', 2, ['a ', '"', 'b" c']],
      ['at a character of two units', 'a😀b', 1, ['a', '😀', 'b']],
      ['at a line break, which stays', 'a\nb', 1, ['a', '↵', '\nb']],
      ['at a space', 'a b', 1, ['a', '␣', 'b']],
      ['at an invisible character', 'a\u0000b', 1, ['a', '␣', '\u0000b']],
      ['at the end', 'ab', 2, ['ab', '␣', '']],
      ['nowhere', 'ab', undefined, ['ab', '␣', '']],
    ];
  for (const [what, text, offset, [before, marked, after]] of rows)
    it(what, () => assert.deepEqual(partsAt(text, offset), { before, marked, after }));
});

it('the HTML of an e-mail follows its text, unless the user changed the HTML, too', () => {
  const mail = { body: 'Nobody for 404404', bodyHtml: '<p>Nobody for 404404</p>' };
  const edited = { body: 'Nobody for 1001' };
  assert.deepEqual(changesOf(mail, edited), { ...edited, bodyHtml: '<p>Nobody for 1001</p>' });
  assert.deepEqual(changesOf({ ...mail, bodyHtml: '<b>Nobody</b>' }, edited), { ...edited, bodyHtml: '<p>Nobody for 1001</p>' });
  assert.deepEqual(changesOf({ action: 'sendEmails', body: 'Late' }, {}), { bodyHtml: '<p>Late</p>' });
  assert.deepEqual(changesOf({ body: 'the text of an event' }, {}), {});
  const both = { ...edited, bodyHtml: '<b>Nobody</b>' };
  assert.deepEqual(changesOf(mail, both), both);
});
