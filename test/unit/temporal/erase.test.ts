import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { eraseClosed } from '../../../src/temporal/erase.js';

/** A server with these runs, whose visibility store ignores case in ids. */
function serverWith(runs: { company: string; runId: string; open?: boolean; gone?: boolean }[]) {
  const deleted: string[] = [];
  const shown = () => runs.filter(({ runId }) => !deleted.includes(runId));
  const client = {
    options: {
      namespace: 'default',
      loadedDataConverter: { payloadCodecs: [], payloadConverter: defaultPayloadConverter },
    },
    workflow: { count: async () => ({ count: shown().filter(({ open }) => !open).length }) },
    workflowService: {
      async listWorkflowExecutions({ nextPageToken, pageSize }: { nextPageToken: Uint8Array; pageSize: number }) {
        const from = Number(Buffer.from(nextPageToken).toString() || 0);
        const executions = shown()
          .slice(from, from + pageSize)
          .map(({ company, runId, open }) => ({
            execution: { workflowId: 'w', runId },
            ...(!open && { closeTime: { seconds: 1 } }),
            searchAttributes: { indexedFields: { RelayCompanyId: defaultPayloadConverter.toPayload(company) } },
          }));
        const next = from + pageSize < shown().length ? String(from + pageSize) : '';
        return { executions, nextPageToken: Buffer.from(next) };
      },
      async deleteWorkflowExecution({ workflowExecution: { runId } }: { workflowExecution: { runId: string } }) {
        if (runs.find((run) => run.runId === runId)?.gone)
          throw Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: '', metadata: {} });
        deleted.push(runId);
      },
    },
  } as unknown as Client;
  return { client, deleted };
}

describe('the erasure of a company in Temporal', () => {
  it('deletes closed runs of exactly that company, and nothing else', async () => {
    const { client, deleted } = serverWith([
      { company: 'ACME', runId: 'other' },
      { company: 'acme', runId: 'one' },
      { company: 'acme', runId: 'gone', gone: true },
      { company: 'acme', runId: 'open', open: true },
      { company: 'acme', runId: 'two' },
    ]);
    assert.equal(await eraseClosed(client, 'acme'), 2);
    assert.deepEqual(deleted.sort(), ['one', 'two']);
  });

  it('deletes some hundred runs at a time, even if many runs of another company come first', async () => {
    const many = (company: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ company, runId: `${company}${n}` }));
    const { client, deleted } = serverWith([...many('ACME', 450), ...many('acme', 500)]);
    const counts: number[] = [];
    do counts.push(await eraseClosed(client, 'acme'));
    while (counts.at(-1) !== 0);
    assert.deepEqual([counts.at(-1), counts.reduce((sum, count) => sum + count), deleted.length], [0, 500, 500]);
    assert.ok(counts.length > 2 && deleted.every((runId) => runId.startsWith('acme')));
  });
});
