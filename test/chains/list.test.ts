import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chainFilterSchema, quoted, visibilityQuery } from '../../src/chains/list.js';

describe('a filter of chains', () => {
  it('becomes a query of visibility', () => {
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
    it(`refuses ${JSON.stringify(text.slice(0, 5))}, which no quoting makes harmless everywhere`, () => {
      assert.throws(() => quoted(text), RangeError);
      assert.equal(chainFilterSchema.safeParse({ assignmentId: text }).success, false);
    });

  for (const text of ["x' OR '1'='1", '1004', "''", 'ünï 割', '%_*()'])
    it(`takes ${JSON.stringify(text)}`, () => assert.equal(quoted(text), `'${text.replaceAll("'", "''")}'`));
});
