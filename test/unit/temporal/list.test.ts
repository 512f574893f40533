import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import { chainFilterSchema, listChains, quoted, visibilityQuery } from '../../../src/temporal/list.js';

describe('a filter of chains', () => {
  it('becomes a visibility query', () => {
    assert.equal(visibilityQuery({}, undefined), "WorkflowType = 'RuleChain'");
    assert.equal(
      visibilityQuery(
        {
          status: 'failed',
          assignmentId: "it's",
          relayId: '7',
          since: '2026-07-01T12:00:00+02:00',
          until: '2026-07-02T00:00:00Z',
        },
        'acme',
        ['RelayPaused = true'],
      ),
      "WorkflowType = 'RuleChain' AND RelayCompanyId = 'acme' AND ExecutionStatus IN ('Failed', 'TimedOut') AND RelayAssignmentIds = 'it''s'" +
        " AND RelayRuleIds = '7' AND StartTime >= '2026-07-01T10:00:00.000Z' AND StartTime < '2026-07-02T00:00:00.000Z' AND RelayPaused = true",
    );
  });

  for (const text of ['a"b', 'a\\', '"', '\n', '♡', '', 'x'.repeat(501)])
    it(`refuses ${JSON.stringify(text.slice(0, 5))}, which no quoting makes safe for every database`, () => {
      assert.throws(() => quoted(text), RangeError);
      assert.equal(chainFilterSchema.safeParse({ assignmentId: text }).success, false);
    });

  for (const text of ["x' OR '1'='1", '1004', "''", 'ünï 割', '%_*()'])
    it(`accepts ${JSON.stringify(text)}`, () => assert.equal(quoted(text), `'${text.replaceAll("'", "''")}'`));
});

describe('a list of chains', () => {
  /** Answers like MySQL, which ignores case in ids. */
  const caseless = {
    options: { namespace: 'default' },
    withDeadline: (_: number, work: () => unknown) => work(),
    workflowService: {
      listWorkflowExecutions: async () => ({
        executions: ['relay:acme:1', 'relay:ACME:2', 'relay:acme:3:0', 'relay-notice:acme:4'].map((workflowId) => ({
          execution: { workflowId, runId: 'r' },
          status: 1,
        })),
        nextPageToken: new Uint8Array(),
      }),
    },
  } as unknown as Client;
  const listed = async (companyId?: string) => {
    const items = await listChains(caseless, { api: '' }, { filter: {}, companyId, limit: 10 });
    return items.map(({ workflowId }) => workflowId);
  };

  it("contains only exactly that company's chains", async () => {
    assert.deepEqual(await listed('acme'), ['relay:acme:1']);
    assert.deepEqual(await listed('ACME'), ['relay:ACME:2']);
    assert.deepEqual(await listed('Acme'), []);
    assert.deepEqual(await listed(), ['relay:acme:1', 'relay:ACME:2']);
  });
});
