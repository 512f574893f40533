/** The answers to a company at its limits, over a socket. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CompanyLimits } from '../../../src/contract/company.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { adminToken, endlessUses, serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

interface Started {
  workflowId: string;
}

const udf = { action: 'ticket_updateUDF', externalSystemTicketId: '1', cfName: 'f', cfValue: 'v' };
const email = { action: 'sendEmails', emails: ['a@x.example', 'b@x.example'], subject: 's', body: 'b', bodyHtml: 'h' };

const bounds: [what: string, limits: CompanyLimits, action: object, slug: string, reason: string][] = [
  ['actions a day', { actionsPerDay: 2 }, udf, 'quota-exceeded', 'actions-per-day'],
  ['e-mail recipients a day', { recipientsPerDay: 4 }, email, 'quota-exceeded', 'recipients-per-day'],
  ['open chains', { openChains: 2 }, udf, 'too-many-open-chains', 'open-chains'],
];

describe('a company at its quota', () => {
  for (const [what, limits, action, slug, reason] of bounds)
    it(`is refused at the POST, its requests are kept, and it is notified once a day: ${what}`, async () => {
      const notices: string[] = [];
      const start = async (type: string, { workflowId }: Started) => {
        if (type === 'NoticeDelivery') notices.push(workflowId);
        return {};
      };
      const served = await serveApi(await openEmptied(), { limits, workflow: { start } });
      try {
        const { relayId, relayAccessToken, companyId, key } = served;
        const body = JSON.stringify([{ ...action, relayId, relayAccessToken }]);
        const headers = { 'content-type': 'application/json' };
        const post = () => fetch(`${served.url}/co/${companyId}/relay`, { method: 'POST', headers, body });
        for (let n = 0; n < 2; n += 1) assert.equal((await post()).status, 202);
        for (let n = 0; n < 3; n += 1) {
          const refused = await post();
          assert.deepEqual([refused.status, problemSchema.parse(await refused.json()).type], [429, `/problems/${slug}`]);
          assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
        }
        const listed = await fetch(`${served.url}/co/${companyId}/rejected`, { headers: { authorization: `Bearer ${key}` } });
        const { items } = (await listed.json()) as { items: { reason: string; repeats: number }[] };
        // Identical requests within ten minutes count as one.
        assert.deepEqual(
          items.map((item) => [item.reason, item.repeats]),
          [[reason, 2]],
        );
        assert.equal(notices.length, 1);
        assert.match(notices[0] ?? '', /^relay-notice:acme:[0-9a-f]{16}:\d{4}-\d\d-\d\d$/);
      } finally {
        await served.close();
      }
    });
});

describe('a bulk order by a key', () => {
  it('is refused with 409 while another order of the company runs; an admin is not limited', async () => {
    const count = async (query?: string) => ({ count: query?.includes('BulkSteering') ? 1 : 0 });
    const served = await serveApi(await openEmptied(), { workflow: { count: count as () => Promise<object> } });
    try {
      const bulk = (bearer: string) =>
        fetch(`${served.url}/co/acme/chains/bulk`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({ verb: 'cancel', confirm: 7 }),
        });
      const refused = await bulk(served.key);
      assert.deepEqual([refused.status, problemSchema.parse(await refused.json()).type], [409, '/problems/bulk-running']);
      assert.equal(refused.headers.get('retry-after'), '10');
      assert.equal(problemSchema.parse(await (await bulk(adminToken)).json()).type, '/problems/count-changed');
    } finally {
      await served.close();
    }
  });
});

describe('a key with the role manage', () => {
  it('is limited in changes a minute, in test notices, and in the number of keys it creates', async () => {
    const served = await serveApi(await openEmptied(), { uses: { ...endlessUses, steering: 150 } });
    try {
      const ask = (path: string, bearer: string, body: object) =>
        fetch(`${served.url}/admin/companies/${served.companyId}/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      const typeOf = async (response: Response) => problemSchema.parse(await response.json()).type;
      const managing = await ask('keys', adminToken, { name: 'manages', role: 'manage' });
      const { key } = (await managing.json()) as { key: string };
      const tests = [];
      for (let n = 0; n < 11; n += 1) tests.push(await ask('notices/test', key, {}));
      const [last] = tests.slice(-1);
      assert.deepEqual([last?.status, tests.filter(({ status }) => status === 429).length], [429, 1]);
      assert.match(last?.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      for (let n = 0; n < 98; n += 1) assert.equal((await ask('keys', key, { name: `key ${n}` })).status, 201);
      const full = await ask('keys', key, { name: 'one more' });
      assert.deepEqual([full.status, await typeOf(full)], [409, '/problems/limit-reached']);
      const statuses = [];
      for (let n = 0; n < 60; n += 1) statuses.push((await ask('keys', key, { name: 'one more' })).status);
      assert.equal(statuses.at(-1), 429);
    } finally {
      await served.close();
    }
  });
});
