import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillIn, sampleOf, valuesFrom, variablesIn } from '../../src/chain/variables.js';

describe('variables', () => {
  it('are found in a text, each once', () =>
    assert.deepEqual(variablesIn('${a} and ${b_1}, ${a}; $c {d} ${}'), ['a', 'b_1', '']));

  it('have a sample where they are known', () => {
    assert.equal(sampleOf('assignment_id'), '1001');
    assert.equal(sampleOf('custom_field_77'), '501');
    for (const name of ['custom_field_', 'custom_field_<field_id>x', 'asignment_id', '', 'constructor'])
      assert.equal(sampleOf(name), undefined);
  });

  it('are filled in wherever a text is, and stay where nobody knows what they would be', () =>
    assert.deepEqual(
      fillIn([{ id: '${a}', emails: ['${a}@x.example', '${b}'], delayInSeconds: 20 }], (name) =>
        name === 'a' ? '$&1' : undefined,
      ),
      [{ id: '$&1', emails: ['$&1@x.example', '${b}'], delayInSeconds: 20 }],
    ));

  it('make no more of a request than it may have', () => {
    const [{ text } = {}] = fillIn([{ text: '${a}'.repeat(60_000) }], () => 'x'.repeat(10_000));
    assert.ok(String(text).length < 600_000);
  });

  it('are known of a request that came, where it is otherwise as it is written', () => {
    const written = [{ id: '${a}', subject: 'About ${b}!', two: '${c}${d}', other: 'x ${e}', emails: ['${f}'], more: '${g}' }];
    const sent = [{ id: '77', subject: 'About this!', two: '12', other: 'y 1', emails: ['a@b.example'] }];
    assert.deepEqual(valuesFrom(written, sent), { a: '77', b: 'this', f: 'a@b.example' });
    assert.deepEqual(valuesFrom(written, []), {});
  });
});
