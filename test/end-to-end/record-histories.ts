/**
 * Records the histories of this version that are missing. Writes them to the version's folder, and adds their sums to SHA256SUMS.
 * Does not change existing histories.
 * For a release or a new kind of chain (docs/changing-workflows.md), run `node dist/test/end-to-end/record-histories.js`
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it, mock } from 'node:test';
import proto from '@temporalio/proto';
import packageJson from '../../package.json' with { type: 'json' };
import { type Chain, chainWorkflowId } from '../../src/chain/chain.js';
import { startTemporal } from '../../src/sandbox/temporal.js';
import { checkSettings } from '../../src/temporal/check-settings.js';
import { startOfEvent } from './event-chains.js';
import { add, isRecorded, unrecordedPatches } from './histories.js';
import { resetToFirst } from './resets.js';
import { adminToken, email, eventually, replayable, send, startStack, Unmet, udf } from './stack.js';

// With this setting, a notifier continues as new early. No other server of the tests has this setting.
const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': 100 };
const dataDir = mkdtempSync(join(tmpdir(), 'relay-record-'));
const at = { host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default' };
const server = await startTemporal({ ...at, dataDir, dynamicConfig, say: () => {} });
process.env.RELAY_TEST_TEMPORAL_ADDRESS = server.address;
process.env.RELAY_TEST_TEMPORAL_DIRECTORY = dataDir;
const stack = await startStack({ noticeDigestSeconds: 6, keyring: null });
const withKeys = await startStack({ isSecond: true });
after(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

type Save = (name: string, workflowId: string, runId?: string) => Promise<void>;

function records(names: string[], record: (save: Save) => Promise<void>, { client } = stack): void {
  const fileOf = (name: string) => `${packageJson.version}/${name}.binpb`;
  const missing = () => names.filter((name) => !isRecorded(fileOf(name)));
  it(names.join(', '), { skip: missing().length === 0 && 'recorded already' }, async () => {
    await record(async (name, workflowId, runId) => {
      if (!missing().includes(name)) return;
      const history = await replayable(client, workflowId, runId);
      blank(history);
      add(fileOf(name), proto.temporal.api.history.v1.History.encode(history).finish());
    });
    assert.deepEqual(missing(), []);
  });
}

/** Removes the data about the recording machine, which a replay does not need. */
function blank(part: object): void {
  for (const [name, value] of Object.entries(part)) {
    const isStickyQueue = name === 'name' && typeof value === 'string' && value.includes('@');
    if (name === 'stackTrace' || name === 'identity' || isStickyQueue) Object.assign(part, { [name]: '' });
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) blank(value);
  }
}

/** The newest workflow of a type and company with this status. */
function latest(type: string, companyId: string, wanted: string): Promise<{ workflowId: string; runId: string }> {
  return eventually(`a ${type} with the status ${wanted}`, async () => {
    const query = `WorkflowType = '${type}' AND RelayCompanyId = '${companyId}'`;
    for await (const { workflowId, runId, status } of stack.client.workflow.list({ query }))
      if (status.name === wanted) return { workflowId, runId };
    return new Unmet('none');
  });
}

function pause(companyId: string, method: 'PUT' | 'DELETE', body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const url = `${stack.links.api}/admin/companies/${companyId}/pause`;
  return fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

records(['plain'], async (save) => {
  const company = await stack.company();
  const assignment = await stack.assignment();
  const plain = await company.start([
    udf('T'),
    email(['a@example.com', 'b@example.com']),
    send(assignment, { groupId: '501', actionCondition: 'status==draft' }),
  ]);
  await company.ended(plain.chainId);
  await save('plain', plain.workflowId);
});

records(['delayed', 'delayed-action', 'delayed-action-run-now'], async (save) => {
  const company = await stack.company();
  const delayed = await company.start([
    udf('T', { delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '3000' }),
    udf('T'),
  ]);
  await company.action(delayed.chainId, 1, 'done');
  await company.steer(delayed.chainId, 'runNow', 2);
  await company.ended(delayed.chainId);
  await save('delayed', delayed.workflowId);
  await save('delayed-action', `${delayed.workflowId}:0`);
  await save('delayed-action-run-now', `${delayed.workflowId}:2`);
});

records(['held', 'held-delayed-action'], async (save) => {
  const company = await stack.company();
  const held = await company.start([
    send('404404', { groupId: '501' }),
    udf('T'),
    send('404404', { groupId: '501', delayInSeconds: '1' }),
  ]);
  await company.action(held.chainId, 0, 'needs-attention');
  await company.action(held.chainId, 2, 'needs-attention');
  await company.steer(held.chainId, 'retry', 0);
  await company.until(
    held.chainId,
    ({ actions }) => actions[0]?.state === 'needs-attention' && actions[0].attempts === 2,
    'the second attempt',
  );
  await company.steer(held.chainId, 'skip', 0);
  await company.steer(held.chainId, 'skip', 2);
  await company.ended(held.chainId);
  await save('held', held.workflowId);
  await save('held-delayed-action', `${held.workflowId}:2`);
});

records(['outage'], async (save) => {
  const company = await stack.company();
  const assignment = await stack.assignment();
  await stack.breakPlatform({ status: 503, path: 'send' });
  const outage = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
  await company.action(outage.chainId, 0, 'needs-attention');
  await stack.heal();
  await company.ended(outage.chainId);
  await save('outage', outage.workflowId);
});

records(['cancelled', 'cancelled-delayed-action'], async (save) => {
  const company = await stack.company();
  const cancelled = await company.start([send('404404', { groupId: '501' }), udf('T', { delayInSeconds: '3000' })]);
  await company.action(cancelled.chainId, 0, 'needs-attention');
  await company.steer(cancelled.chainId, 'cancel');
  await company.ended(cancelled.chainId);
  await save('cancelled', cancelled.workflowId);
  await save('cancelled-delayed-action', `${cancelled.workflowId}:1`);
});

records(['reopened'], async (save) => {
  const continued = await stack.company({ onFailure: 'continue' });
  const [late, never] = ['5050501', '5050502'];
  const reopened = await continued.start([send(late, { groupId: '501' }), udf('T'), send(never, { groupId: '501' })]);
  await continued.ended(reopened.chainId);
  await stack.assignment({ id: late });
  await continued.steer(reopened.chainId, 'retry', 0);
  await continued.until(
    reopened.chainId,
    ({ actions, closedAt }) => actions[0]?.state === 'done' && closedAt !== undefined,
    'the chain to close again',
  );
  await save('reopened', reopened.workflowId);
});

records(['notifier', 'notice-delivery'], async (save) => {
  const company = await stack.company();
  const chains = [];
  for (const id of ['5050503', '5050504', '5050505']) chains.push(await company.start([send(id, { groupId: '501' })]));
  for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
  await stack.mails(company.admin, 2);
  for (const { chainId } of chains) await company.steer(chainId, 'skip', 0);
  await stack.mails(company.admin, 3);
  await save('notifier', (await latest('Notifier', company.companyId, 'COMPLETED')).workflowId);
  await save('notice-delivery', (await latest('NoticeDelivery', company.companyId, 'COMPLETED')).workflowId);
});

records(['settings-check'], async (save) => {
  const { companyId } = await stack.company();
  assert((await checkSettings(stack.client, stack.taskQueue, { companyId })).length > 0);
  await save('settings-check', (await latest('SettingsCheck', companyId, 'COMPLETED')).workflowId);
});

records(['notifier-continued', 'notifier-next-run'], async (save) => {
  const company = await stack.company();
  const chains = [];
  for (const id of ['5050506', '5050507', '5050508']) chains.push(await company.start([send(id, { groupId: '501' })]));
  for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
  await stack.mails(company.admin, 2);
  const { workflowId, runId } = await latest('Notifier', company.companyId, 'RUNNING');
  const handle = stack.client.workflow.getHandle(workflowId, runId);
  await eventually('the notifier to continue as new', async () => {
    const { status, historyLength } = await handle.describe();
    if (status.name === 'CONTINUED_AS_NEW') return true;
    await stack.client.workflow.getHandle(workflowId).signal('over', 'none');
    return new Unmet({ status, historyLength });
  });
  for (const { chainId } of chains) await company.steer(chainId, 'skip', 0);
  await stack.mails(company.admin, 3);
  await save('notifier-continued', workflowId, runId);
  await save('notifier-next-run', workflowId, (await latest('Notifier', company.companyId, 'COMPLETED')).runId);
});

records(['paused', 'paused-delayed-action'], async (save) => {
  const company = await stack.company();
  const assignment = await stack.assignment();
  await pause(company.companyId, 'PUT', { what: 'platform', reason: 'new version' });
  const { chainId, workflowId } = await company.start([
    udf('T'),
    send(assignment, { groupId: '501' }),
    send(assignment, { groupId: '501', delayInSeconds: '1' }),
  ]);
  for (const index of [1, 2])
    await company.until(chainId, ({ actions }) => actions[index]?.pausedSince !== undefined, `action ${index} to wait`);
  await pause(company.companyId, 'DELETE');
  await company.ended(chainId);
  await save('paused', workflowId);
  await save('paused-delayed-action', `${workflowId}:2`);
});

records(['on-unknown-hold', 'on-unknown-hold-delayed-action'], async (save) => {
  const company = await stack.company({ onUnknown: 'hold' });
  const assignment = await stack.assignment();
  await stack.breakPlatform({ dropConnection: true, afterActing: true, path: 'send' });
  const { chainId, workflowId } = await company.start([
    udf('T'),
    send(assignment, { groupId: '501' }),
    email(['a@example.com'], { platformAssignmentId: assignment, actionCondition: 'status!=draft' }),
    send(assignment, { groupId: '501', delayInSeconds: '1' }),
  ]);
  for (const index of [1, 3]) await company.action(chainId, index, 'needs-attention');
  await stack.heal();
  await company.steer(chainId, 'retry', 1);
  await company.steer(chainId, 'skip', 3);
  await company.ended(chainId);
  await save('on-unknown-hold', workflowId);
  await save('on-unknown-hold-delayed-action', `${workflowId}:3`);
});

records(['found-delayed-action', 'found-delayed-action-cancelled'], async (save) => {
  const company = await stack.company();
  const start = async () => {
    const chain = await company.start([udf('T'), udf('T', { delayInSeconds: '3000' }), udf('T', { delayInSeconds: '3100' })]);
    await company.action(chain.chainId, 0, 'done');
    await resetToFirst(stack.client, chain.workflowId);
    await eventually('the reset chain to wait for its delayed actions', async () => {
      const { raw } = await stack.client.workflow.getHandle(chain.workflowId).describe();
      const waits = raw.pendingActivities?.filter(({ activityType }) => activityType?.name === 'awaitDelayed') ?? [];
      return waits.length === 2 ? true : new Unmet(waits.length);
    });
    return chain;
  };
  const found = await start();
  for (const index of [1, 2]) await company.steer(found.chainId, 'runNow', index);
  await company.ended(found.chainId);
  await save('found-delayed-action', found.workflowId);
  const cancelled = await start();
  await company.steer(cancelled.chainId, 'cancel');
  await company.ended(cancelled.chainId);
  await save('found-delayed-action-cancelled', cancelled.workflowId);
});

records(['large-email'], async (save) => {
  const company = await stack.company();
  const to = ['good', 'bad'].map((name) => `${name}@${company.companyId}.example`);
  await stack.breakMail({ code: 451, to: to[1] });
  // This text is too long to be repeated in the inputs of the activities.
  const { chainId, workflowId } = await company.start([
    email(to, { body: 'x'.repeat(17_000) }),
    send('404404', { groupId: '501' }),
  ]);
  await company.action(chainId, 1, 'needs-attention');
  await stack.healMail();
  await company.steer(chainId, 'retry', 0);
  await company.action(chainId, 0, 'done');
  await company.steer(chainId, 'skip', 1);
  await company.ended(chainId);
  await save('large-email', workflowId);
});

records(['steered', 'steered-delayed-action'], async (save) => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start(Array.from({ length: 4 }, () => udf('T', { delayInSeconds: '3000' })));
  await company.action(chainId, 3, 'scheduled');
  const handle = stack.client.workflow.getHandle(workflowId);
  for (const [name, value] of [
    ['no such signal', 1],
    ['retry', 'x'],
    ['report', { actions: [{}] }],
  ] as const)
    await handle.signal(name, value);
  await stack.client.workflow.getHandle(`${workflowId}:0`).signal('skip', [0]);
  await company.steer(chainId, 'reschedule', 0, { seconds: 1 });
  await company.steer(chainId, 'cancel', 1);
  await company.steer(chainId, 'runNow', 2);
  await company.action(chainId, 0, 'done');
  await company.action(chainId, 2, 'done');
  await company.steer(chainId, 'runNow', 3);
  await company.ended(chainId);
  await save('steered', workflowId);
  await save('steered-delayed-action', `${workflowId}:0`);
});

records(['mended', 'mended-delayed-action'], async (save) => {
  const company = await stack.company();
  const [assignment, missing] = [await stack.assignment(), '5050509'];
  const { chainId, workflowId } = await company.start([
    udf('${ticket}'),
    send(missing, { groupId: '501', delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '1' }),
    udf('T'),
  ]);
  const handle = stack.client.workflow.getHandle(workflowId);
  for (const [index, wrong, fields] of [
    [1, { sendRadius: 'far' }, { groupId: '502' }],
    [0, { cfName: '' }, { externalSystemTicketId: 'T' }],
  ] as const) {
    await company.action(chainId, index, 'needs-attention');
    await handle.signal('mend', [index, wrong]);
    const isRefused = ({ ignored }: { ignored?: string[] }) => ignored?.at(-1)?.includes(`mend [${index}]: /`) ?? false;
    await company.until(chainId, isRefused, 'what is wrong to be refused');
    await company.steer(chainId, 'mend', index, { fields });
  }
  await company.action(chainId, 3, 'done');
  await company.until(
    chainId,
    ({ actions }) => actions[1]?.state === 'needs-attention' && actions[1].attempts === 2,
    'a second try',
  );
  await company.steer(chainId, 'mend', 1, { fields: { platformAssignmentId: assignment } });
  await company.ended(chainId);
  await save('mended', workflowId);
  await save('mended-delayed-action', `${workflowId}:1`);
});

records(['mended-delay', 'mended-delay-cancelled'], async (save) => {
  const company = await stack.company();
  const start = async () => {
    const chain = await company.start([udf('T', { delayInSeconds: '' }), udf('T')]);
    await company.action(chain.chainId, 0, 'needs-attention');
    await company.steer(chain.chainId, 'mend', 0, { fields: { delayInSeconds: '3000' } });
    await company.action(chain.chainId, 1, 'done');
    return chain;
  };
  const later = await start();
  await company.steer(later.chainId, 'runNow', 0);
  await company.ended(later.chainId);
  await save('mended-delay', later.workflowId);
  const cancelled = await start();
  await company.steer(cancelled.chainId, 'cancel');
  await company.ended(cancelled.chainId);
  await save('mended-delay-cancelled', cancelled.workflowId);
});

records(['mended-reopened'], async (save) => {
  const company = await stack.company({ onFailure: 'continue' });
  const assignment = await stack.assignment();
  const sent = { groupId: '501', delayInSeconds: '1' };
  const { chainId, workflowId } = await company.start([send('5050510', sent), udf('T', { delayInSeconds: '1' }), udf('T')]);
  await company.ended(chainId);
  await company.steer(chainId, 'mend', 0, { fields: { platformAssignmentId: assignment } });
  await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
  await save('mended-reopened', workflowId);
});

records(['mended-large-email'], async (save) => {
  const company = await stack.company();
  const to = ['one', 'two'].map((name) => `${name}@${company.companyId}.example`);
  const { chainId, workflowId } = await company.start([email(['nobody'])]);
  await company.action(chainId, 0, 'needs-attention');
  // This text is too long to be repeated in the inputs of the activities.
  await company.steer(chainId, 'mend', 0, { fields: { emails: to, body: 'x'.repeat(17_000) } });
  await company.ended(chainId);
  await save('mended-large-email', workflowId);
});

records(['skipped'], async (save) => {
  const company = await stack.company();
  const assignment = await stack.assignment();
  const about = { groupId: '501', incomingValue: 'high' };
  const { chainId, workflowId } = await company.start([
    send(assignment, { ...about, actionCondition: 'incomingValue==low' }),
    send(assignment, { ...about, actionCondition: 'incomingValue==high' }),
    send(assignment, { ...about, actionCondition: 'location.zipp==1' }),
    udf('T'),
  ]);
  await company.ended(chainId);
  await save('skipped', workflowId);
});

records(['gave-up'], async (save) => {
  const company = await stack.company();
  const chainId = await company.startHeld(2);
  await company.ended(chainId);
  await save('gave-up', `relay:${company.companyId}:${chainId}`);
});

records(['not-tried'], async (save) => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([udf('T', { delayInSeconds: '2' }), udf('T', { delayInSeconds: '2' })]);
  const away = mock.method(stack.store.settings, 'of', () => Promise.reject(new Error('the database is down')));
  await company.action(chainId, 0, 'pending');
  away.mock.restore();
  await company.ended(chainId);
  await save('not-tried', `${workflowId}:0`);
});

records(['policy-awaited'], async (save) => {
  const company = await stack.company({ onFailure: 'continue' });
  const away = mock.method(stack.store.rules, 'get', () => Promise.reject(new Error('the database is down')));
  const { chainId, workflowId } = await company.start([send('404404', { groupId: '501' }), udf('T')]);
  await company.action(chainId, 0, 'pending');
  away.mock.restore();
  await company.ended(chainId);
  await save('policy-awaited', workflowId);
});

records(['slow', 'cancelled-in-flight'], async (save) => {
  const company = await stack.company();
  const assignment = await stack.assignment();
  const start = () =>
    company.start([udf('T'), send(assignment, { groupId: '501' }), udf('T'), udf('T', { delayInSeconds: '3000' })]);
  // The platform needs longer than a local try may take, so the send becomes an ordinary activity.
  await stack.breakPlatform({ delayMs: 4000, path: 'send' });
  const [slow, cancelled] = [await start(), await start()];
  await eventually('an ordinary activity', async () => {
    const { raw } = await stack.client.workflow.getHandle(cancelled.workflowId).describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'sendAssignment') || new Unmet(raw);
  });
  await company.steer(cancelled.chainId, 'cancel');
  await company.action(slow.chainId, 2, 'done');
  await stack.heal();
  await company.steer(slow.chainId, 'runNow', 3);
  await company.ended(slow.chainId);
  await save('slow', slow.workflowId);
  await company.ended(cancelled.chainId);
  await save('cancelled-in-flight', cancelled.workflowId);
});

records(['done-though-cancelled', 'done-though-cancelled-delayed-action'], async (save) => {
  const company = await stack.company();
  // The platform needs longer than a local try may take, so the send becomes an ordinary activity.
  await stack.breakPlatform({ delayMs: 4000, path: 'send' });
  const { chainId, workflowId } = await company.start([
    send(await stack.assignment(), { groupId: '501', delayInSeconds: '1' }),
    udf('T'),
  ]);
  await eventually('an ordinary activity', async () => {
    const handle = stack.client.workflow.getHandle(`${workflowId}:0`);
    const raw = await handle.describe().then(({ raw }) => raw, String); // The workflow may not exist yet.
    const isUnderWay =
      typeof raw === 'object' && raw.pendingActivities?.some(({ activityType: type }) => type?.name === 'sendAssignment');
    return isUnderWay || new Unmet(raw);
  });
  await company.steer(chainId, 'cancel');
  const { actions } = await company.ended(chainId);
  await stack.heal();
  assert.equal(actions[0]?.state, 'done');
  await save('done-though-cancelled', workflowId);
  await save('done-though-cancelled-delayed-action', `${workflowId}:0`);
});

records(['overdue-delayed-action'], async (save) => {
  const company = await stack.company();
  await pause(company.companyId, 'PUT', { what: 'ticketing' });
  const { chainId, workflowId } = await company.start([udf('T', { delayInSeconds: '1' }), udf('T', { delayInSeconds: '4' })]);
  await company.until(chainId, ({ actions }) => actions.every(({ pausedSince }) => pausedSince), 'both to wait');
  await pause(company.companyId, 'DELETE');
  await company.ended(chainId);
  await save('overdue-delayed-action', `${workflowId}:1`);
});

records(['mended-for-all', 'mended-for-all-delayed-action'], async (save) => {
  const company = await stack.company();
  const [missing, assignment] = ['5050511', await stack.assignment()];
  const { chainId, workflowId } = await company.start([
    send(missing),
    send(missing, { groupId: '502' }),
    send(missing, { delayInSeconds: '3000' }),
  ]);
  await company.action(chainId, 0, 'needs-attention');
  await company.steer(chainId, 'mend', 0, { fields: { platformAssignmentId: assignment }, allActions: true });
  await company.action(chainId, 1, 'done');
  await company.steer(chainId, 'runNow', 2);
  await company.ended(chainId);
  await save('mended-for-all', workflowId);
  await save('mended-for-all-delayed-action', `${workflowId}:2`);
});

records(['decided-then-reset'], async (save) => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([send('5050512'), udf('${ticket}'), udf('T')]);
  await company.action(chainId, 0, 'needs-attention');
  await company.steer(chainId, 'mend', 0, { fields: { platformAssignmentId: await stack.assignment() } });
  await company.action(chainId, 1, 'needs-attention');
  await company.steer(chainId, 'skip', 1);
  await company.ended(chainId);
  await resetToFirst(stack.client, workflowId);
  await company.ended(chainId);
  await save('decided-then-reset', workflowId);
});

records(['stopped', 'stopped-delayed-action'], async (save) => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([
    send('404404', { groupId: '501' }),
    udf('T'),
    udf('T', { delayInSeconds: '3000' }),
  ]);
  await company.action(chainId, 0, 'needs-attention');
  await company.action(chainId, 2, 'scheduled');
  await stack.client.workflow.getHandle(workflowId).signal('stop', { reason: 'the job was called off', by: 'a test' });
  await company.ended(chainId);
  await save('stopped', workflowId);
  await save('stopped-delayed-action', `${workflowId}:2`);
});

records(['of-event', 'of-event-delayed-action', 'of-event-reset'], async (save) => {
  const company = await stack.company();
  const id = await stack.assignment({ title: 'a', ownerEmail: 'a@example.com, b@example.com' });
  const about = { platformAssignmentId: id, cfValue: 'is ${assignment.title}', if: 'event.n > 3 && assignment.status != "gone"' };
  await stack.breakPlatform({ status: 400, path: 'tickets' });
  const { chainId, workflowId } = await startOfEvent(stack, company, [
    udf('T', about),
    email(['${assignment.ownerEmail}'], { platformAssignmentId: id, body: '${assignment.title}' }),
    udf('T', { ...about, if: 'event.n > 4' }),
    udf('T', { ...about, delayInSeconds: '1' }),
  ]);
  await company.action(chainId, 0, 'needs-attention');
  await company.action(chainId, 3, 'needs-attention');
  await company.steer(chainId, 'mend', 0, { fields: { cfName: 'G' } });
  await company.until(chainId, ({ actions }) => actions[0]?.mends?.length === 1, 'the edit');
  await company.action(chainId, 0, 'needs-attention');
  await stack.heal();
  for (const index of [0, 3]) await company.steer(chainId, 'retry', index);
  await company.ended(chainId);
  await save('of-event', workflowId);
  await save('of-event-delayed-action', `${workflowId}:3`);
  await resetToFirst(stack.client, workflowId);
  await company.ended(chainId);
  await save('of-event-reset', workflowId);
});

records(['instant'], async (save) => {
  const company = await stack.company();
  const { companyId, relayId } = company;
  const [chainId, ticket] = [randomUUID(), { action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' } as const];
  const chain: Chain = {
    companyId,
    chainId,
    receivedAt: new Date().toISOString(),
    retryBudgetSeconds: 1,
    attentionWindowSeconds: 600,
    actions: [
      { index: 0, relayId, ...ticket, dueAt: new Date(Date.now() + 2000).toISOString() },
      { index: 1, relayId, ...ticket },
    ],
  };
  const workflowId = chainWorkflowId(chain);
  await stack.client.workflow.start('RuleChain', { workflowId, taskQueue: stack.taskQueue, args: [chain] });
  await company.ended(chainId);
  await save('instant', workflowId);
});

records(['bulk'], async (save) => {
  const company = await stack.company();
  const chains = [
    await company.start([send('404404', { groupId: '501' })]),
    await company.start([send('404404', { groupId: '501' })]),
  ];
  for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
  const bulkId = randomUUID();
  const order = { bulkId, verb: 'skip', actions: {}, by: 'admin' };
  const ids = [...chains.map(({ workflowId }) => workflowId), ...Array.from({ length: 20 }, (_, n) => `relay:none:${n}`)];
  const workflowId = `relay-bulk:${bulkId}`;
  await stack.client.workflow.execute('BulkSteering', { workflowId, taskQueue: stack.taskQueue, args: [order, ids] });
  await save('bulk', workflowId);
});

records(
  ['encrypted', 'encrypted-delayed-action'],
  async (save) => {
    const company = await withKeys.company();
    const { chainId, workflowId } = await company.start([
      send('404404', { groupId: '501' }),
      email(['a@example.com']),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    await company.steer(chainId, 'skip', 0);
    await company.action(chainId, 2, 'scheduled');
    await company.action(chainId, 1, 'done');
    await company.steer(chainId, 'runNow', 2);
    await company.ended(chainId);
    await save('encrypted', workflowId);
    await save('encrypted-delayed-action', `${workflowId}:2`);
  },
  withKeys,
);

records(
  ['encrypted-failed', 'encrypted-failed-delayed-action'],
  async (save) => {
    const company = await withKeys.company({ onFailure: 'continue' });
    const { chainId, workflowId } = await company.start([udf('T'), send('404404', { groupId: '501', delayInSeconds: '1' })]);
    await company.ended(chainId);
    await save('encrypted-failed', workflowId);
    await save('encrypted-failed-delayed-action', `${workflowId}:1`);
  },
  withKeys,
);

it('include every patch of the workflows', () => {
  assert.deepEqual(unrecordedPatches(), [], 'add a scenario that passes it');
});
