import assert from 'node:assert/strict';
import { it } from 'node:test';
import { begun, changed, redone, undone } from '../../../src/console/composer/history.js';

it('changes are undone and redone one by one', () => {
  let history = changed(changed(begun('a'), 'b', '', 0), 'c', '', 0);
  history = undone(history);
  assert.equal(history.present, 'b');
  history = undone(undone(history));
  assert.equal(history.present, 'a');
  history = redone(redone(redone(history)));
  assert.equal(history.present, 'c');
});

it('typing in one field is one step, until the person pauses or changes another field', () => {
  let history = begun('');
  for (const [text, about, at] of [
    ['a', 'subject', 0],
    ['ab', 'subject', 1000],
    ['abc', 'subject', 5000],
    ['abcd', 'body', 5100],
  ] as const)
    history = changed(history, text, about, at);
  for (const text of ['abc', 'ab', '']) {
    history = undone(history);
    assert.equal(history.present, text);
  }
});

it('after an undo and a new change, nothing can be redone', () => {
  const history = changed(undone(changed(begun('a'), 'b', '', 0)), 'c', '', 0);
  assert.equal(redone(history).present, 'c');
  assert.equal(undone(history).present, 'a');
});
