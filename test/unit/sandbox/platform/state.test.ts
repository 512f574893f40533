import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { PlatformState } from '../../../../src/sandbox/platform/state.js';

describe("the demo platform's memory", () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-platform-'));
  after(() => rmSync(directory, { recursive: true }));

  it('survives a kill of the process', () => {
    const file = join(directory, 'a.jsonl');
    const before = new PlatformState(file);
    const draft = before.assignments.get('1001');
    assert(draft);
    before.put('assignments', '1001', { ...draft, status: 'sent' });
    before.put('tickets', 'T1', { id: 'T1', userDefinedFields: [{ name: 'a', value: 'b' }], updatedAt: draft.id });
    before.put('answers', 'k', { status: 200, body: { recipients: 1 } });
    const slow = before.arrived({ method: 'GET', path: '/slow' });
    const quick = before.arrived({ method: 'GET', path: '/quick' });
    before.put('calls', `${quick.number}`, { ...quick, status: 200 });
    before.put('calls', `${slow.number}`, { ...slow, status: 404 });
    // The test closes nothing, because a killed process closes nothing. Its last line may be incomplete.
    appendFileSync(file, '{"table":"tickets","key":"half');

    const after = new PlatformState(file);
    for (const part of ['assignments', 'tickets', 'answers', 'calls'] as const)
      assert.deepEqual([...after[part]], [...before[part]]);
    assert.equal(after.arrived({ method: 'GET', path: '/next' }).number, 3);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /half/);
  });

  it('is empty after a reset, in the file too', () => {
    const file = join(directory, 'b.jsonl');
    const state = new PlatformState(file);
    state.put('calls', '1', { ...state.arrived({ method: 'GET', path: '/' }), status: 200 });
    state.assignments.clear();
    state.reset();
    assert.equal(state.assignments.size, 5);
    assert.equal(state.calls.size, 0);
    const again = new PlatformState(file);
    assert.equal(again.calls.size, 0);
  });
});
