/** Two API processes with one PostgreSQL, at the quotas of one company. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { CompanyLimits } from '../../../src/contract/company.js';
import { freePort } from '../../../src/service/server.js';
import { deployment } from '../../end-to-end/deployment.js';
import { startProcess } from '../../end-to-end/process.js';
import { type Action, email, eventually, Unmet, udf } from '../../end-to-end/stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const quota = 20;
const later = { delayInSeconds: '30000' };
const quotas: [what: keyof CompanyLimits, slug: string, action: Action][] = [
  ['actionsPerDay', 'quota-exceeded', udf('T', later)],
  ['recipientsPerDay', 'quota-exceeded', email(['a@b.example'], later)],
  ['openChains', 'too-many-open-chains', udf('T', later)],
];

describe('two API processes', { skip }, async () => {
  if (skip) return;
  const { adminToken, env } = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const urls: string[] = [];
  for (const port of [env.PORT, String(await freePort('127.0.0.1'))]) {
    const api = startProcess('api/main.js', { ...env, PORT: port });
    closing.push(() => api.end('SIGTERM'));
    await api.says('Temporal can be reached');
    urls.push(`http://127.0.0.1:${port}`);
  }
  const [first = '', second = ''] = urls;
  const ask = (url: string, method: string, path: string, body: unknown) =>
    fetch(url + path, { method, headers, body: JSON.stringify(body) });

  /** A company that both processes know, and a function that POSTs one action and returns whether it was accepted. */
  async function company(limits: CompanyLimits, slug: string, action: Action) {
    const companyId = `two-${Math.random().toString(36).slice(2)}`;
    const settings = { name: 'Two', notify: { emails: ['a@b.example'] }, limits };
    assert.equal((await ask(first, 'PUT', `/admin/companies/${companyId}`, settings)).status, 201);
    const made = await ask(first, 'POST', `/admin/companies/${companyId}/rules`, { name: 'Rule' });
    const { relayId, relayAccessToken } = (await made.json()) as Record<string, string>;
    const path = `/co/${companyId}/relay`;
    await eventually('the other process to know the rule', async () => {
      const { status } = await ask(second, 'POST', `${path}?dryRun=true`, [{ relayId, relayAccessToken, ...action }]);
      return status === 200 || new Unmet(status);
    });
    return async (url: string): Promise<boolean> => {
      const answer = await ask(url, 'POST', path, [{ relayId, relayAccessToken, ...action }]);
      const text = await answer.text();
      if (answer.status === 202) return true;
      assert.equal(answer.status, 429, text);
      assert.ok(text.includes(`/problems/${slug}`), text);
      return false;
    };
  }

  for (const [what, slug, action] of quotas) {
    it(`accept at most one quota each in a flood, and nothing after the flood: ${what}`, async () => {
      const post = await company({ [what]: quota }, slug, action);
      const answers = await Promise.all(Array.from({ length: 3 * quota }, (_, n) => post(n % 2 === 0 ? first : second)));
      const accepted = answers.filter((isAccepted) => isAccepted).length;
      assert.ok(accepted >= quota && accepted <= 2 * quota, `${accepted}`);
      for (const url of urls) for (let n = 0; n < 3; n += 1) assert.equal(await post(url), false);
    });

    it(`share a used-up quota; the second process may accept a few more until it knows the count: ${what}`, async () => {
      const post = await company({ [what]: quota }, slug, action);
      let taken = 0;
      while (await post(first)) taken += 1;
      // A chain that starts during a count of the open chains may be counted twice, until the next count.
      assert.ok(what === 'openChains' ? taken <= quota && taken > quota / 2 : taken === quota, `${taken}`);
      // The second process reads the count once a second. No request waits for this.
      let more = 0;
      await eventually('the other to refuse', async () => {
        if (!(await post(second))) return true;
        more += 1;
        return new Unmet(more);
      });
      assert.ok(more < quota, `${more} more`);
      for (const url of urls) assert.equal(await post(url), false);
    });
  }
});
