/**
 * One of the two databases is restored to an earlier state, and the other is not. PostgreSQL is restored by `pg_dump` and
 * `pg_restore`, Temporal by a copy of its files. docs/backup.md describes these results.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startTemporal } from '../../../src/sandbox/temporal.js';
import { deployment } from '../../end-to-end/deployment.js';
import { startProcess } from '../../end-to-end/process.js';
import { type Call, companyAt, email, eventually, type Mail, send, Unmet, udf } from '../../end-to-end/stack.js';
import { programsDirectory } from '../../postgresql.js';

const programs = programsDirectory();
const known = process.env.RELAY_TEST_DATABASE_URL !== undefined && programs !== undefined;

describe('a restored database', { skip: !known && 'PostgreSQL is not installed' }, async () => {
  if (!known) return;
  const closing: (() => unknown)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });
  const directory = mkdtempSync(join(tmpdir(), 'relay-restore-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const [data, copy] = [join(directory, 'temporal'), join(directory, 'copy')];
  for (const made of [data, copy]) mkdirSync(made);
  const engineAt = (port: number) =>
    startTemporal({ dataDir: data, host: '127.0.0.1', port, uiPort: 0, namespace: 'default', say: () => {} });
  let engine = await engineAt(0);
  closing.push(() => engine.stop());
  /** Restarts the server; `meanwhile` runs while its files are closed. */
  const restartEngine = async (meanwhile: () => void) => {
    await engine.stop();
    meanwhile();
    engine = await engineAt(Number(engine.address.split(':').at(-1)));
  };
  const move = (from: string, to: string) => {
    for (const file of readdirSync(to)) if (file.startsWith('temporal.db')) rmSync(join(to, file));
    for (const file of readdirSync(from)) if (file.startsWith('temporal.db')) cpSync(join(from, file), join(to, file));
  };

  const { database, platform, mail, adminToken, url, env: shared } = await deployment(closing, engine.address);
  const env = {
    ...shared,
    RELAY_RETRY_BUDGET_SECONDS: '1',
    RELAY_OPERATOR_EMAIL: 'operator@relay.example',
  };
  const dump = join(directory, 'relay.dump');
  const postgres = (program: string, ...words: string[]) => execFileSync(join(programs, program), words, { stdio: 'pipe' });
  let processes: ReturnType<typeof startProcess>[] = [];
  const startRelay = async () => {
    processes = ['api/main.js', 'worker/main.js'].map((main) => startProcess(main, env));
    await processes[0]?.says('Temporal can be reached');
    await processes[1]?.says('the worker runs');
  };
  const stopRelay = (signal: NodeJS.Signals) => Promise.all(processes.map((running) => running.end(signal)));
  closing.push(() => stopRelay('SIGKILL'));
  await startRelay();

  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    return { status: response.status, json: JSON.parse((await response.text()) || '{}') };
  };
  /** Creates a company with a rule. */
  const found = async (companyId: string) => {
    const system = { kind: 'http', baseUrl: platform.url };
    const notify = { emails: [`admin@${companyId}.example`] };
    const settings = { name: companyId, notify, platform: system, ticketing: system };
    assert.equal((await call('PUT', `/admin/companies/${companyId}`, settings)).status, 201);
    return ruleOf(companyId);
  };
  const ruleOf = async (companyId: string, given: object = {}) => {
    const { status, json } = await call('POST', `/admin/companies/${companyId}/rules`, { name: 'Rule', ...given });
    assert.equal(status, 201, JSON.stringify(json));
    return companyAt(url, adminToken, { companyId, relayId: json.relayId, relayAccessToken: json.relayAccessToken });
  };
  /** The number of calls that set this ticket's field, by idempotency key. */
  const asked = async (ticket: string) => {
    const journal = (await (await fetch(`${platform.url}/journal`)).json()) as Call[];
    const keys = journal.filter(({ path }) => path.endsWith(`/${ticket}`)).map(({ idempotencyKey = '' }) => idempotencyKey);
    return { times: keys.length, keys: new Set(keys).size };
  };
  const mails = (address: string, count: number) =>
    eventually(`${count} messages to ${address}`, async () => {
      const query = encodeURIComponent(`to:"${address}"`);
      const { messages } = (await (await fetch(`${mail.uiUrl}/api/v1/search?query=${query}`)).json()) as { messages: Mail[] };
      return messages.length >= count ? messages : new Unmet(messages.map(({ Subject }) => Subject));
    });
  const later = { delayInSeconds: '3000' };

  it('PostgreSQL: known chains continue; requests of unknown rules are refused, their chains are held; no effect happens twice', async () => {
    const company = await found('store');
    const { companyId, relayId } = company;
    const before = await company.start([udf('S1', later)]);
    const revoked = await ruleOf(companyId);
    const ofRevoked = await revoked.start([udf('S7', later)]);
    postgres('pg_dump', '--format=custom', '--file', dump, database.url);

    const keyed = await company.post([udf('S2')], { 'Idempotency-Key': 'S2' });
    const { chainId } = (await keyed.json()) as { chainId: string };
    await company.ended(chainId);
    const rotated = await call('POST', `/admin/companies/${companyId}/rules/${relayId}/tokens`, {});
    assert.equal(rotated.status, 201);
    const renewed = companyAt(url, adminToken, { companyId, relayId, relayAccessToken: rotated.json.relayAccessToken });
    assert.equal((await company.post([udf('S3')])).status, 401);
    assert.equal((await call('DELETE', `/admin/companies/${companyId}/rules/${revoked.relayId}`)).status, 204);
    const young = await ruleOf(companyId);
    const ofYoung = await young.start([udf('S4', later)]);
    const lost = await found('lost');
    const ofLost = await lost.start([udf('S8', later)]);

    // The processes keep running, as they do after a failover to a replica without the last changes. Their statements and the
    // locks of pg_restore can form a deadlock. Then PostgreSQL cancels the transaction.
    await eventually('pg_restore without a deadlock', async () => {
      try {
        postgres('pg_restore', '--clean', '--if-exists', '--single-transaction', '--dbname', database.url, dump);
        return true;
      } catch (error) {
        if (/deadlock detected/.test(String(error))) return new Unmet(String(error));
        throw error;
      }
    });

    await eventually('the API to know the settings of before', async () => {
      const { status } = await renewed.post([udf('S3')]);
      return status === 401 || new Unmet(status);
    });
    assert.equal((await company.post([udf('S3')])).status, 202, 'the token of before is valid again');
    assert.equal((await revoked.post([udf('S5')])).status, 202, 'and so is the rule that was deleted');
    assert.equal((await young.post([udf('S4')])).status, 401, 'the new rule is unknown');
    const again = await company.post([udf('S2')], { 'Idempotency-Key': 'S2' });
    assert.deepEqual([again.status, ((await again.json()) as { chainId: string }).chainId], [200, chainId]);
    assert.deepEqual(await asked('S2'), { times: 1, keys: 1 });

    await company.steer(before.chainId, 'runNow', 0);
    assert.equal((await company.ended(before.chainId)).status, 'completed');
    await revoked.steer(ofRevoked.chainId, 'runNow', 0);
    assert.equal((await revoked.ended(ofRevoked.chainId)).actions[0]?.state, 'done');
    await lost.steer(ofLost.chainId, 'runNow', 0);
    await lost.action(ofLost.chainId, 0, 'needs-attention');
    await mails('operator@relay.example', 1);

    // The chain of the unknown rule must be held, because people must know that its actions do not run.
    await young.steer(ofYoung.chainId, 'runNow', 0);
    const { actions } = await young.action(ofYoung.chainId, 0, 'needs-attention');
    assert.match(actions[0]?.error?.message ?? '', /rule \d+ is missing from the database, .* restored from a backup/);
    await mails(`admin@${companyId}.example`, 1);
    await ruleOf(companyId, { relayId: young.relayId, relayAccessToken: young.relayAccessToken });
    await young.steer(ofYoung.chainId, 'retry', 0);
    assert.equal((await young.ended(ofYoung.chainId)).status, 'completed');
    assert.deepEqual(await asked('S4'), { times: 1, keys: 1 });
    await young.start([udf('S6')]);
  });

  it('Temporal: effects since the copy are repeated under the same keys; chains accepted since then are forgotten', async () => {
    const company = await found('engine');
    const { companyId } = company;
    const open = await company.start([udf('E1', later)]);
    const steered = await company.start([udf('E7', later), udf('E8', { delayInSeconds: '4000' })]);
    const due = await company.start([udf('E5', { delayInSeconds: '10' }), email(['e6@engine.example'], later)]);
    assert.equal((await company.post([udf('E9')], { 'Idempotency-Key': ' ' })).status, 400);
    const refused = await eventually('the request to be kept', async () => {
      const { json } = await call('GET', `/co/${companyId}/rejected`);
      return json.items[0] ?? new Unmet(json);
    });
    await stopRelay('SIGTERM');
    await restartEngine(() => move(data, copy));
    await startRelay();

    await company.steer(open.chainId, 'runNow', 0);
    await company.ended(open.chainId);
    await company.steer(due.chainId, 'runNow', 1);
    await company.ended(due.chainId);
    const resend = () => call('POST', `/co/${companyId}/rejected/${refused.rejectedId}/resend`, {});
    const resent = await resend();
    assert.equal(resent.status, 202, JSON.stringify(resent.json));
    await company.ended(resent.json.chainId);
    await company.steer(steered.chainId, 'cancel', 0);
    await company.action(steered.chainId, 0, 'cancelled');
    const post = () => company.post([udf('E2'), send('404404', { groupId: '501' })], { 'Idempotency-Key': 'E2' });
    const first = (await (await post()).json()) as { chainId: string };
    await company.action(first.chainId, 1, 'needs-attention');
    await mails(`admin@${companyId}.example`, 1);
    const lost = await company.start([udf('E3', later)]);
    const young = await ruleOf(companyId);

    // A running worker has the old chains in its cache, where they are stuck. A restarted worker does not have them.
    await restartEngine(() => move(copy, data));
    await eventually('the API to reach Temporal', async () => {
      const { status, json } = await call('GET', '/readyz');
      return status === 200 || new Unmet(json);
    });
    await stopRelay('SIGTERM');
    await startRelay();

    assert.equal((await company.read(open.chainId)).actions[0]?.state, 'scheduled');
    await company.steer(open.chainId, 'runNow', 0);
    assert.equal((await company.ended(open.chainId)).status, 'completed');
    assert.deepEqual(await asked('E1'), { times: 2, keys: 1 });
    // Actions whose time has passed run again without a decision.
    await company.action(due.chainId, 0, 'done');
    await company.steer(due.chainId, 'runNow', 1);
    await company.ended(due.chainId);
    assert.deepEqual(await asked('E5'), { times: 2, keys: 1 });
    const copies = await mails('e6@engine.example', 2);
    assert.deepEqual([copies.length, new Set(copies.map(({ MessageID }) => MessageID)).size], [2, 1]);

    await company.action(steered.chainId, 0, 'scheduled');
    await company.steer(steered.chainId, 'runNow', 1);
    await company.action(steered.chainId, 1, 'done');
    assert.deepEqual(
      [await asked('E7'), await asked('E8')],
      [
        { times: 0, keys: 0 },
        { times: 1, keys: 1 },
      ],
    );

    await eventually('the list to name the lost chains', async () => {
      const { items } = (await call('GET', `/co/${companyId}/chains?status=forgotten`)).json as { items: { chainId: string }[] };
      const named = items.map(({ chainId }) => chainId);
      return [first, lost].every(({ chainId }) => named.includes(chainId)) || new Unmet(named);
    });
    for (const { chainId } of [first, lost, resent.json]) {
      const { status, json } = await call('GET', `/co/${companyId}/chains/${chainId}`);
      assert.deepEqual([status, json.forgotten], [200, true]);
    }
    assert.equal((await resend()).status, 409, 'that it was sent again is in PostgreSQL');
    const again = await post();
    assert.deepEqual([again.status, ((await again.json()) as { chainId: string }).chainId], [202, first.chainId]);
    await company.action(first.chainId, 1, 'needs-attention');
    await eventually('the row to be open again', async () => {
      const { json } = await call('GET', `/co/${companyId}/chains?status=needs-attention`);
      return json.items.some(({ chainId }: { chainId: string }) => chainId === first.chainId) || new Unmet(json.items);
    });
    assert.deepEqual(await asked('E2'), { times: 2, keys: 1 });
    // This is a new hold, so people are notified.
    await mails(`admin@${companyId}.example`, 2);
    const { chainId } = await young.start([udf('E4')]);
    assert.equal((await young.ended(chainId)).status, 'completed');
  });
});
