import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillIn, sampleOf, variables, variablesIn, wordingOf } from '../../../src/chain/variables.js';

describe('variables', () => {
  it('are found in a text, each once', () =>
    assert.deepEqual(variablesIn('${a} and ${b_1}, ${a}; $c {d} ${}'), ['a', 'b_1', '']));

  it('have a sample value if they are known', () => {
    assert.equal(sampleOf('assignment_id'), '1001');
    assert.equal(sampleOf('custom_field_77'), '501');
    for (const name of ['custom_field_', 'custom_field_<field_id>x', 'asignment_id', '', 'constructor'])
      assert.equal(sampleOf(name), undefined);
  });

  describe('are recognised by name in any spelling', () => {
    const rows: [wording: ReturnType<typeof wordingOf>, names: string][] = [
      ['free', 'custom_field_501 custom_field_due_date udf_4 note notes note_text name customerName assignment_name'],
      ['free', 'title job-description email_subject comments instructions street_address last_message'],
      ['strict', 'assignment_id noteId resource_email ownerEmails checked_in_on name_changed_at due_date resource_state status'],
      [undefined, 'priority x once format'],
    ];
    for (const [wording, names] of rows)
      for (const name of names.split(' '))
        it(`${name}: ${wording ?? 'is unknown'}`, () => assert.equal(wordingOf(name), wording));

    it('of every known name are filled in', () => {
      const free = variables.filter(({ name }) => wordingOf(name) !== 'strict').map(({ name }) => name);
      assert.deepEqual(free, ['custom_field_<field_id>']);
    });
  });

  it('are filled in within any text, and stay if unknown', () =>
    assert.deepEqual(
      fillIn([{ id: '${a}', emails: ['${a}@x.example', '${b}'], delayInSeconds: 20 }], (name) =>
        name === 'a' ? '$&1' : undefined,
      ),
      [{ id: '$&1', emails: ['$&1@x.example', '${b}'], delayInSeconds: 20 }],
    ));

  it('cannot make a request longer than its limit', () => {
    const [{ text } = {}] = fillIn([{ text: '${a}'.repeat(60_000) }], () => 'x'.repeat(10_000));
    assert.ok(String(text).length < 600_000);
  });
});
