/** Chains run for days and must survive a new version. So the histories that each release has recorded must replay. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { committedLines, lineOf, lines, read, recordedNames, unrecordedPatches } from '../../end-to-end/histories.js';
import { replayOptions } from '../../end-to-end/replays.js';
import { standardKeyring } from '../../end-to-end/stack.js';

const rule = 'recorded histories are never changed or removed (docs/changing-workflows.md)';

describe('recorded histories', () => {
  it('all match SHA256SUMS', () => {
    assert.deepEqual(recordedNames().map(lineOf).sort(), lines().sort(), rule);
  });

  const committed = committedLines();
  it('have not changed since their first commit', { skip: 'unknown' in committed && committed.unknown }, () => {
    if (!('lines' in committed)) return;
    const now = lines();
    assert.deepEqual(
      committed.lines.filter((line) => !now.includes(line)),
      [],
      rule,
    );
  });

  it('include every patch of the workflows', () => {
    assert.deepEqual(unrecordedPatches(), [], 'record one with each id (docs/changing-workflows.md)');
  });

  const { History } = proto.temporal.api.history.v1;
  const histories = recordedNames().map((name) => ({ workflowId: name, history: History.decode(read(name)) }));
  const replayed = (async () => {
    const errors = new Map<string, Error | undefined>();
    for await (const { workflowId, error } of Worker.runReplayHistories(replayOptions(standardKeyring), histories))
      errors.set(workflowId, error);
    return errors;
  })();
  for (const { workflowId: name } of histories)
    it(`${name} replays`, async () => {
      const errors = await replayed;
      assert(errors.has(name));
      assert.ifError(errors.get(name));
    });
});
