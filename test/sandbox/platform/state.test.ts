import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { PlatformState } from '../../../src/sandbox/platform/state.js';

describe("the pretend platform's memory", () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-platform-'));
  after(() => rmSync(directory, { recursive: true }));

  it('is what it was, also when the process was killed', () => {
    const file = join(directory, 'a.jsonl');
    const before = new PlatformState(file);
    const draft = before.assignments.get('1001');
    assert(draft);
    before.record({ kind: 'assignment', assignment: { ...draft, status: 'sent' } });
    before.record({ kind: 'ticket', ticket: { id: 'T1', userDefinedFields: [{ name: 'a', value: 'b' }], updatedAt: draft.id } });
    before.record({ kind: 'answer', key: 'k', answer: { status: 200, body: { recipients: 1 } } });
    const slow = before.arrived({ method: 'GET', path: '/slow' });
    const quick = before.arrived({ method: 'GET', path: '/quick' });
    before.record({ kind: 'call', call: { ...quick, status: 200 } });
    before.record({ kind: 'call', call: { ...slow, status: 404 } });
    // No close: a killed process closes nothing. Its last line may be torn.
    appendFileSync(file, '{"kind":"ticket","ticket":{"id":"half');

    const after = new PlatformState(file);
    for (const part of ['assignments', 'tickets', 'answers', 'calls'] as const)
      assert.deepEqual([...after[part]], [...before[part]]);
    assert.equal(after.arrived({ method: 'GET', path: '/next' }).number, 3);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /half/);
    after.close();
    before.close();
  });

  it('forgets everything on a reset, in the file too', () => {
    const file = join(directory, 'b.jsonl');
    const state = new PlatformState(file);
    state.record({ kind: 'call', call: { ...state.arrived({ method: 'GET', path: '/' }), status: 200 } });
    state.assignments.clear();
    state.reset();
    assert.equal(state.assignments.size, 5);
    assert.equal(state.calls.size, 0);
    state.close();
    const again = new PlatformState(file);
    assert.equal(again.calls.size, 0);
    again.close();
  });
});
