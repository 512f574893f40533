/** The notices about a rule that expects events: it becomes quiet, and the next event comes. Also tests the weekly digest. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { companyHealthSchema, ruleHealthSchema } from '../../../src/contract/health.js';
import { watch } from '../../../src/notices/quiet.js';
import { publish } from '../../api/rule-with-contents.js';
import { relay } from '../../cli/scripted-terminal.js';
import { actor, adminToken, eventually, startStack, Unmet } from '../../end-to-end/stack.js';

const stack = await startStack();
const hour = 3_600_000;
const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
const watchAt = (hours: number) => watch(stack, Date.now() + hours * hour);

async function quietRule(expectation: object) {
  const company = await stack.company();
  const { companyId, relayId, relayAccessToken } = company;
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${stack.links.api}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    assert.equal(response.status, 200, await response.clone().text());
    return response.json();
  };
  const rule = `/admin/companies/${companyId}/rules/${relayId}`;
  await publish(stack.store, companyId, relayId, {
    when: 'event.n > 1',
    actions: [{ action: 'sendEmails', emails: 'a@b.example' }],
  });
  await ask('PATCH', rule, expectation);
  await stack.store.uptime.beat();
  return {
    ...company,
    change: (settings: object) => ask('PATCH', rule, settings),
    health: async () => ruleHealthSchema.parse(await ask('GET', `/co/${companyId}/rules/${relayId}/health`)),
    ofCompany: async () => companyHealthSchema.parse(await ask('GET', `/co/${companyId}/health`)),
    async send() {
      const event = { method: 'POST', headers: { ...headers, authorization: `Bearer ${relayAccessToken}` }, body: '{"n": 1}' };
      assert.equal((await fetch(`${stack.links.api}/co/${companyId}/events/${relayId}`, event)).status, 200);
      await stack.store.events.list(companyId, relayId, { limit: 1 }); // waits until the event is stored
    },
  };
}

it('the relay notifies once that a rule is quiet, and once that its events have returned', async () => {
  const rule = await quietRule({ expectEvery: 2 * 3600 });
  await watchAt(1);
  assert.equal((await rule.health()).quietSince, undefined);
  await watchAt(3);
  await watchAt(4);
  const [mail] = await stack.mails(rule.admin, 1);
  assert(mail);
  assert.match(mail.Subject, /^\[relay\] No event for 3 h( \d+ s)? \(Test rule\)$/);
  assert.match(
    (await stack.text(mail)).Text,
    /The rule expects an event every 2 h\. The relay does not count the time during a pause, or the time when the relay did not run\./,
  );
  const first = await rule.health();
  assert.deepEqual([first.quietSince !== undefined, first.lastEvent], [true, undefined]);
  const { rules } = await rule.ofCompany();
  assert.deepEqual(
    rules.map(({ relayId, quietSince }) => [relayId, quietSince !== undefined]),
    [[rule.relayId, true]],
  );

  await rule.send();
  await watchAt(0);
  const mails = await stack.mails(rule.admin, 2);
  assert.deepEqual(
    mails.map(({ Subject }) => Subject),
    [mail.Subject, '[relay] Events come again (Test rule)'],
  );
  const known = await rule.health();
  assert.deepEqual([known.quietSince, known.buckets.map(({ events, chains }) => [events, chains])], [undefined, [[1, 0]]]);
});

it('the relay names the last event, although the rule has changed later', async () => {
  const rule = await quietRule({});
  await rule.send();
  const before = new Date().toISOString();
  await rule.change({ expectEvery: 3600 });
  await watchAt(2);
  const { quietSince, lastEvent = '' } = await rule.health();
  assert(lastEvent && lastEvent <= before, lastEvent);
  assert.deepEqual([quietSince, (await rule.ofCompany()).rules[0]?.lastEvent], [lastEvent, lastEvent]);
  const [mail] = await stack.mails(rule.admin, 1);
  assert.match((await stack.text(mail ?? assert.fail())).Text, /\nLast event: .*\nLast change of the rule: /);
});

it('the relay sends no notice during a pause, outside the hours, and for a rule that does not expect events any more', async () => {
  const rule = await quietRule({ expectEvery: 3600 });
  await stack.store.pauses.begin(rule.companyId, { what: 'platform' }, actor);
  await watchAt(2);
  assert.equal((await rule.health()).quietSince, undefined);
  await stack.store.pauses.end(rule.companyId, 'platform', actor);
  const weekday = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(Date.now() + 72 * hour).getUTCDay()];
  await rule.change({ expectWithin: { days: [weekday] } });
  await watchAt(2);
  assert.equal((await rule.health()).quietSince, undefined);
  await rule.change({ expectWithin: null });
  await watchAt(2);
  assert.notEqual((await rule.health()).quietSince, undefined);
  await rule.change({ expectEvery: null });
  await watchAt(2);
  const { quietSince, expectEvery } = await rule.health();
  assert.deepEqual([quietSince, expectEvery], [undefined, undefined]);
  assert.deepEqual((await stack.mails(rule.admin, 1)).length, 1);
});

it('the relay sends the digest of the last week once, to a company that has asked for it', async () => {
  const { companyId, admin } = await stack.company();
  await watchAt(0);
  const patch = { method: 'PATCH', headers, body: '{"weeklyDigest": true}' };
  assert.equal((await fetch(`${stack.links.api}/admin/companies/${companyId}`, patch)).status, 200);
  await watchAt(0);
  await watchAt(0);
  const [mail] = await stack.mails(admin, 1);
  assert(mail);
  assert.match(mail.Subject, /^\[relay\] The week from \d{4}-\d\d-\d\d: 0 chains, 0 failed \(Test company\)$/);
  assert.match((await stack.text(mail)).Text, /All rules that expect events are getting events now\./);
  await watchAt(7 * 24);
  assert.equal((await stack.mails(admin, 2)).length, 2);
});

it('the command exports chains and events', async () => {
  const rule = await quietRule({});
  await rule.send();
  const { chainId } = await rule.start([
    { action: 'sendEmails', emails: ['a@b.example'], subject: '=1+1', body: 'b', bodyHtml: '<p>b</p>' },
  ]);
  await rule.ended(chainId);
  const out = join(mkdtempSync(join(tmpdir(), 'relay-export-')), 'chains.csv');
  const env = { RELAY_URL: stack.links.api, RELAY_ADMIN_TOKEN: adminToken };
  const [, row = ''] = await eventually('the chain in the export', async () => {
    const shown = await relay(['export', 'chains', rule.companyId, '--status', 'completed', '--format', 'csv', '--out', out], {
      env,
    });
    assert.equal(shown.exitCode, 0, shown.err);
    const lines = readFileSync(out, 'utf8').trim().split('\r\n');
    return lines.length > 1 ? lines : new Unmet(lines);
  });
  assert(row.includes(chainId));
  const events = await relay(['export', 'events', rule.companyId, '--rule', rule.relayId], { env });
  assert.deepEqual(JSON.parse(events.out).body, '{"n": 1}');
  const refused = await relay(['export', 'audit', 'unknown', '--out', `${out}.other`], { env });
  assert.deepEqual([refused.exitCode, existsSync(`${out}.other`), existsSync(`${out}.other.part`)], [1, false, false]);
});
