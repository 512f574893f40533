import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changesOf, editText, fieldAt } from '../../src/console/fields.js';

const fields = { cfName: 'Sent', ticket: '', emails: ['a@b.example', 'c@d.example'], radius: 25, odd: { a: [1] } };

it('a field is edited as a text, a list as lines, anything else as JSON', () => {
  assert.deepEqual(Object.values(fields).map(editText), [
    'Sent',
    '',
    'a@b.example\nc@d.example',
    '25',
    '{\n  "a": [\n    1\n  ]\n}',
  ]);
  assert.deepEqual([editText(undefined), editText(null)], ['', '']);
});

it('what was edited is what has changed, with null for what was emptied', () => {
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

it('a mistake is shown beside the field that it is about', () => {
  assert.equal(fieldAt({ pointer: '/fields/emails/0' }, '/fields'), 'emails');
  assert.equal(fieldAt({ pointer: '/1/a~1b~0' }, '/1'), 'a/b~');
  for (const pointer of ['/10/cfValue', '/1', '', '/1/']) assert.equal(fieldAt({ pointer }, '/1'), undefined);
});
