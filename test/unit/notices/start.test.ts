import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import type { RejectedNotice } from '../../../src/contract/notices.js';
import { ruleNotices } from '../../../src/notices/start.js';

describe('the notices of refused requests', () => {
  for (const [reason, most] of [
    ['token-revoked', 1],
    ['token-expired', 1],
    ['signature', 1],
    ['invalid-chain', 2],
  ] as const)
    it(`are ${most} in an hour, for two requests with mistakes at different places: ${reason}`, () => {
      const started: string[] = [];
      const start = async (_: string, { workflowId }: { workflowId: string }) => started.push(workflowId);
      const client = { withDeadline: (_: number, run: () => unknown) => run(), workflow: { start } } as unknown as Client;
      const notices = ruleNotices(client, pino({ level: 'silent' }));
      for (const pointer of ['/0/relayAccessToken', '/1/relayAccessToken']) {
        const mistakes = [{ pointer, detail: 'was wrong' }];
        const at = '2026-03-02T09:12:44.120Z';
        const notice: RejectedNotice = {
          kind: 'rejected',
          companyId: 'acme',
          relayId: '1',
          at,
          rejectedId: 'R',
          reason,
          mistakes,
        };
        notices.start(notice, 'relay');
      }
      assert.equal(new Set(started).size, most);
    });
});
