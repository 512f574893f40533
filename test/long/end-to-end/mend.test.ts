/** Actions with wrong fields are edited and retried. Each edited action is a new effect with its own key. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bulkPreviewSchema, bulkSchema } from '../../../src/contract/chain-resource.js';
import { resetToFirst } from '../../end-to-end/resets.js';
import { actor, adminToken, decided, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

// The budget leaves time to repeat a call that takes longer than its timeout on a busy machine or after a change of the worker.
const stack = await startStack({ retryBudgetSeconds: 120 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);
const unknownAssignment = () => String(Math.floor(Math.random() * 1e12));
type Company = Awaited<ReturnType<typeof stack.company>>;

const mend = (company: Company, chainId: string, index: number, fields: object, more: object = {}) =>
  company.steer(chainId, 'mend', index, { fields, ...more });

async function problemOf(
  response: Response,
  status: number,
): Promise<{ detail: string; errors?: { pointer: string; detail: string }[] }> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  return JSON.parse(text);
}

const fieldsOf = async (company: Company, chainId: string, index: number) => {
  const url = `${stack.links.api}/co/${company.companyId}/chains/${chainId}/actions/${index}/fields`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${adminToken}` } });
  assert.equal(response.status, 200);
  return (await response.json()) as { fields: Record<string, unknown>; sent?: Record<string, unknown>; sameAssignment: number[] };
};

const bulkOf = async (company: Company, body: object) => {
  const url = `${stack.links.api}/co/${company.companyId}/chains/bulk`;
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as unknown };
};

describe('a chain that is reset to its first task', () => {
  it('repeats the decision about each action, and never tries an action without its edit', async () => {
    const company = await stack.company();
    const [missing, assignment] = [unknownAssignment(), await stack.assignment()];
    const { chainId, workflowId } = await company.start([send(missing), udf('${ticket}'), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    await mend(company, chainId, 0, { platformAssignmentId: assignment });
    await company.action(chainId, 1, 'needs-attention');
    await company.steer(chainId, 'skip', 1);
    await company.ended(chainId);
    const before = (await stack.calls(missing)).length;
    await resetToFirst(stack.client, workflowId);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'skipped', 'done']);
    assert.equal((await stack.calls(missing)).length, before);
    const keys = new Set((await stack.calls(assignment)).map(({ idempotencyKey }) => idempotencyKey));
    assert.deepEqual([...keys], [`relay:${company.companyId}:${chainId}/0/m1`]);
  });
});

describe('an assignment that is wrong in several actions', { concurrency: true }, () => {
  it('is edited in one action; the answer names all other actions with this assignment', async () => {
    const company = await stack.company();
    const [missing, assignment] = [unknownAssignment(), await stack.assignment()];
    const { chainId } = await company.start([send(missing), send(missing), udf('T'), send(missing, { delayInSeconds: '3000' })]);
    await company.action(chainId, 0, 'needs-attention');
    const mended = await mend(company, chainId, 0, { platformAssignmentId: assignment });
    assert.deepEqual(await mended.json(), { chainId, index: 0, accepted: 'mend', sameAssignment: [1, 3] });
    await company.action(chainId, 1, 'needs-attention');
    assert.deepEqual((await fieldsOf(company, chainId, 1)).sameAssignment, [3]);
    await company.steer(chainId, 'cancel');
  });

  it('is edited in all actions that have not ended', async () => {
    const company = await stack.company();
    const [missing, assignment, other] = [unknownAssignment(), await stack.assignment(), await stack.assignment()];
    const { chainId } = await company.start([
      send(missing),
      send(missing, { groupId: '502' }),
      send(other),
      send(missing, { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    assert.deepEqual((await fieldsOf(company, chainId, 0)).sameAssignment, [1, 3]);
    const refused = await mend(company, chainId, 0, { platformAssignmentId: assignment, groupId: '1' }, { allActions: true });
    assert.match((await problemOf(refused, 400)).detail, /allActions is only for edits of platformAssignmentId/);
    assert.equal((await mend(company, chainId, 0, { platformAssignmentId: assignment }, { allActions: true })).status, 202);
    await company.action(chainId, 2, 'done');
    const { actions } = await company.action(chainId, 3, 'scheduled');
    assert.equal(actions[3]?.assignmentId, assignment);
    await company.steer(chainId, 'runNow', 3);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'done', 'done', 'done']);
    assert.deepEqual(
      chain.actions.map(({ assignmentId }) => assignmentId),
      [assignment, assignment, other, assignment],
    );
    assert.equal(new Set((await stack.calls(assignment)).map(({ idempotencyKey }) => idempotencyKey)).size, 3);
  });
});

describe('an assignment that texts name', () => {
  it('is edited in these texts too, but not in recipients', async () => {
    const company = await stack.company();
    const [missing, assignment] = [unknownAssignment(), await stack.assignment()];
    const later = { platformAssignmentId: missing, delayInSeconds: '3000' };
    const mail = email([`job-${missing}@acme.example`], {
      ...later,
      subject: `Nobody for ${missing}`,
      body: `Call ${missing}1.`,
    });
    const { chainId } = await company.start([send(missing, { comment: `send ${missing}` }), mail]);
    await company.action(chainId, 0, 'needs-attention');
    const { naming } = (await fieldsOf(company, chainId, 0)) as unknown as { naming: object[] };
    const recipients = { index: 1, field: 'emails', fixed: true };
    assert.deepEqual(naming, [{ index: 0, field: 'comment' }, recipients, { index: 1, field: 'subject' }]);
    assert.equal((await mend(company, chainId, 0, { platformAssignmentId: assignment }, { texts: true })).status, 202);
    const { actions } = await company.action(chainId, 0, 'done');
    assert.equal(actions[1]?.assignmentId, assignment);
    // The edit of the e-mail waits for its turn, but everybody already sees the edited fields.
    const { fields } = await fieldsOf(company, chainId, 1);
    const shown = [fields.platformAssignmentId, fields.subject, fields.body, fields.emails];
    assert.deepEqual(shown, [assignment, `Nobody for ${assignment}`, `Call ${missing}1.`, [`job-${missing}@acme.example`]]);
    const decidedAt = actions[0]?.steered?.[0]?.at;
    await company.steer(chainId, 'runNow', 1);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'done']);
    const [edit] = chain.actions[1]?.steered?.filter(({ verb }) => verb === 'mend') ?? [];
    assert.deepEqual(edit?.fields, ['platformAssignmentId', 'subject']);
    assert(edit.at <= String(decidedAt), `${edit.at}: the time of the decision, not of the run`);
  });
});

describe('a scheduled action', () => {
  it('keeps its time, and runs with the edited fields', async () => {
    const company = await stack.company();
    const [to, later] = [`desk@${company.companyId}.example`, { delayInSeconds: '3000' }];
    const { chainId } = await company.start([email([to], { ...later, subject: 'Nobody for 404404' }), udf('T', later)]);
    const { actions } = await company.action(chainId, 0, 'scheduled');
    const wrong = await problemOf(await mend(company, chainId, 0, { emails: [] }), 400);
    assert.match(wrong.detail, /^Nothing was changed\. /);
    assert.equal((await mend(company, chainId, 0, { subject: 'Nobody for 1001' })).status, 202);
    await eventually('the edited subject', async () => {
      const { subject } = (await fieldsOf(company, chainId, 0)).fields;
      return subject === 'Nobody for 1001' ? true : new Unmet(subject);
    });
    await company.steer(chainId, 'reschedule', 0, { seconds: 2000 });
    const verbs = (chain: typeof waiting) => chain.actions[0]?.steered?.map(({ verb }) => verb);
    const waiting = await company.until(chainId, (chain) => chain.actions[0]?.runAt !== actions[0]?.runAt, 'the new time');
    assert.deepEqual([waiting.actions[0]?.state, verbs(waiting)], ['scheduled', ['mend', 'reschedule']]);
    assert.equal((await fieldsOf(company, chainId, 0)).fields.subject, 'Nobody for 1001');
    await company.steer(chainId, 'runNow', 0);
    const done = await company.action(chainId, 0, 'done');
    assert.deepEqual(verbs(done)?.toSorted(), ['mend', 'reschedule', 'runNow']);
    const [mail] = await stack.mails(to, 1);
    assert.equal(mail?.Subject, 'Nobody for 1001');
    await company.steer(chainId, 'cancel');
  });
});

describe('a held action', () => {
  it('is edited and retried under its own key; the original request stays on record', async () => {
    const company = await stack.company();
    const ticket = `t-${company.companyId}`;
    const { chainId } = await company.start([udf('${ticketId}', { comment: 'note it' }), udf(ticket)]);
    await company.action(chainId, 0, 'needs-attention');
    const before = await fieldsOf(company, chainId, 0);
    assert.deepEqual(before.fields, { relayId: company.relayId, ...udf('${ticketId}', { comment: 'note it' }) });
    assert.equal((await mend(company, chainId, 0, { externalSystemTicketId: ticket })).status, 202);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'done']);
    // On a busy machine a try may be repeated under its key.
    const keys = new Set((await stack.calls(ticket)).map(({ idempotencyKey }) => idempotencyKey));
    assert.deepEqual([...keys], [`relay:${company.companyId}:${chainId}/0/m1`, `relay:${company.companyId}:${chainId}/1`]);
    const [steered] = chain.actions[0]?.steered ?? [];
    assert.deepEqual([steered?.verb, steered?.by, steered?.fields], ['mend', 'admin', ['externalSystemTicketId']]);
    assert.deepEqual(chain.actions[0]?.mends, [1]);
    const after = await fieldsOf(company, chainId, 0);
    assert.deepEqual(after.sent, before.fields);
    assert.deepEqual(after.fields, { ...before.fields, externalSystemTicketId: ticket });
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual(
      [items[0]?.action, items[0]?.details],
      ['chain.mend', { chainId, index: 0, fields: ['externalSystemTicketId'] }],
    );
  });

  it('is edited more than once: earlier edits stay', async () => {
    const company = await stack.company();
    const [wrong, right] = [unknownAssignment(), await stack.assignment()];
    const { chainId, workflowId } = await company.start([send(wrong, { groupId: '501', sendRadius: '5' })]);
    await company.action(chainId, 0, 'needs-attention');
    await mend(company, chainId, 0, { sendRadius: '25' });
    await company.until(
      chainId,
      ({ actions: [held] }) => held?.attempts === 2 && held.state === 'needs-attention',
      'a second try',
    );
    assert.equal((await mend(company, chainId, 0, { platformAssignmentId: right })).status, 202);
    const chain = await company.ended(chainId);
    assert.deepEqual([states(chain), chain.actions[0]?.assignmentId], [['done'], right]);
    const [call] = await stack.calls(right);
    assert.deepEqual([call?.body, call?.idempotencyKey?.split('/').at(-1)], [{ groupIds: ['501'], radiusMiles: 25 }, 'm2']);
    const { typedSearchAttributes } = await stack.client.workflow.getHandle(workflowId).describe();
    const assignments = typedSearchAttributes.getAll().find(({ key }) => key.name === 'RelayAssignmentIds');
    assert.deepEqual(assignments?.value, [right]);
  });

  it('is edited by a signal that an operator types; an invalid signal has no effect, and is shown', async () => {
    const company = await stack.company();
    const right = await stack.assignment();
    const { chainId, workflowId } = await company.start([send(unknownAssignment(), { groupId: '501' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    const handle = stack.client.workflow.getHandle(workflowId);
    for (const [argument, said] of [
      [[0], /its input must be \[index, \{field: value\}/],
      [[0, 'groupId'], /its input must be/],
      [[0, { sendRadius: 'far' }], /mend \[0\]: \/sendRadius must be a number of miles/],
      [[0, { relayId: '1' }], /mend \[0\]: \/relayId cannot be changed/],
      [[1, { cfValue: 'x' }], /mend \[1\]: action 1 is pending/],
      [[9, { cfValue: 'x' }], /mend \[9\]: there is no action 9/],
    ] as const) {
      await handle.signal('mend', argument);
      await company.until(
        chainId,
        ({ ignored }) => said.test(ignored?.at(-1) ?? ''),
        `${JSON.stringify(argument)} to be ignored`,
      );
    }
    assert.deepEqual(states(await company.read(chainId)), ['needs-attention', 'pending']);
    await handle.signal('mend', [0, { platformAssignmentId: right }, { by: 'ada' }]);
    const chain = await company.ended(chainId);
    assert.deepEqual([states(chain), chain.actions[0]?.steered?.[0]?.by], [['done', 'done'], 'ada']);
  });

  it('is not edited through the API if the edit is invalid: the error says what is wrong', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('', { cfTargetDateFormat: 'yyyy', cfValue: 'soon' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    const { errors } = await problemOf(await mend(company, chainId, 0, { cfNam: 'x', cfValue: 5 }), 400);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/fields/cfNam', '/fields/externalSystemTicketId'],
    );
    const time = await problemOf(await mend(company, chainId, 0, { externalSystemTicketId: 'T' }), 400);
    assert.match(time.errors?.[0]?.detail ?? '', /^cfValue /);
    await problemOf(await company.steer(chainId, 'mend', 0, { fields: 'x' }), 400);
    await problemOf(await company.steer(chainId, 'mend', 0, { cfValue: 'x' }), 400);
    await problemOf(await mend(company, chainId, 1, { cfValue: 'x' }), 409);
    await problemOf(await mend(company, chainId, 7, { cfValue: 'x' }), 404);
    assert.equal((await mend(company, chainId, 0, { externalSystemTicketId: 'T', cfValue: '2026-07-01T12:00:00Z' })).status, 202);
    assert.deepEqual(states(await company.ended(chainId)), ['done', 'done']);
    await problemOf(await mend(company, chainId, 0, { cfValue: 'x' }), 409);
  });

  it('with an unknown last outcome is edited after confirmation', async () => {
    const company = await stack.company({ onUnknown: 'hold' });
    const assignment = await stack.assignment();
    await stack.breakPlatform({ dropConnection: true, afterActing: true, path: 'send' });
    const { chainId, workflowId } = await company.start([send(assignment, { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.heal();
    assert.match((await problemOf(await mend(company, chainId, 0, { groupId: '502' }), 409)).detail, /confirmUnknown/);
    await stack.client.workflow.getHandle(workflowId).signal('mend', [0, { groupId: '502' }]);
    const isTold = ({ ignored }: { ignored?: string[] }) => ignored?.at(-1)?.includes('confirmUnknown') ?? false;
    await company.until(chainId, isTold, 'the word');
    assert.equal((await mend(company, chainId, 0, { groupId: '502' }, { confirmUnknown: true })).status, 202);
    assert.deepEqual(states(await company.ended(chainId)), ['done']);
    assert.equal(await stack.effects(assignment), 2);
  });

  it('of a chain without stored fields is not edited, and the answer says what to do', async () => {
    const company = await stack.company();
    const chainId = await company.startHeld(600);
    await company.action(chainId, 0, 'needs-attention');
    assert.match((await problemOf(await mend(company, chainId, 0, { groupId: '1' }), 409)).detail, /send the request again/);
    await stack.client.workflow.getHandle(`relay:${company.companyId}:${chainId}`).signal('mend', [0, { groupId: '1' }]);
    await company.until(chainId, ({ ignored }) => ignored?.at(-1)?.includes('send the request again') ?? false, 'the word');
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
  });

  it('with a blank delay is due after its new delay, and the actions after it run', async () => {
    const company = await stack.company();
    const ticket = `t-${company.companyId}`;
    const { chainId, receivedAt } = await company.start([udf(ticket, { delayInSeconds: '${delay}' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    assert.equal((await mend(company, chainId, 0, { delayInSeconds: '3000' })).status, 202);
    const chain = await company.action(chainId, 1, 'done');
    const [later] = chain.actions;
    assert.equal(later?.state, 'scheduled');
    assert.equal(Date.parse(later?.runAt ?? '') - Date.parse(receivedAt), 3_000_000);
    assert.equal((await company.steer(chainId, 'runNow', 0)).status, 202);
    assert.deepEqual(states(await company.ended(chainId)), ['done', 'done']);
    assert.equal(await stack.effects(ticket), 1);
  });

  it('with a blank delay is cancelled with its chain while it waits', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '' })]);
    await company.action(chainId, 0, 'needs-attention');
    await mend(company, chainId, 0, { delayInSeconds: '3000' });
    await company.action(chainId, 0, 'scheduled');
    await company.steer(chainId, 'cancel');
    assert.deepEqual(states(await company.ended(chainId)), ['cancelled']);
  });
});

describe('a delayed action', { concurrency: true }, () => {
  it('is edited through its chain, even after it has failed: earlier edits stay', async () => {
    const company = await stack.company({ onFailure: 'hold' });
    const [wrong, right] = [unknownAssignment(), await stack.assignment()];
    const delayed = { delayInSeconds: '1' };
    const { chainId } = await company.start([
      send(wrong, { groupId: '501', ...delayed }),
      udf('T', delayed),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    await mend(company, chainId, 0, { groupId: '502' });
    await company.until(
      chainId,
      ({ actions: [held] }) => held?.attempts === 2 && held.state === 'needs-attention',
      'a second try',
    );
    const failing = { onFailure: 'continue' } as const;
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, ...failing }), { kind: 'admin' });
    await company.steer(chainId, 'retry', 0);
    await company.action(chainId, 0, 'failed');
    await company.action(chainId, 1, 'done');
    assert.equal((await mend(company, chainId, 0, { platformAssignmentId: right })).status, 202);
    await company.action(chainId, 0, 'done');
    const [call] = await stack.calls(right);
    assert.deepEqual([call?.body, call?.idempotencyKey?.split('/').at(-1)], [{ groupIds: ['502'] }, 'm2']);
    await company.steer(chainId, 'cancel', 2);
    await company.ended(chainId);
  });

  it('keeps its edits when its chain retries it', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const { chainId } = await company.start([
      send(assignment, { groupId: '501', delayInSeconds: '1' }),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    const failing = { onFailure: 'continue' } as const;
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, ...failing }), { kind: 'admin' });
    await mend(company, chainId, 0, { groupId: '502' });
    await company.action(chainId, 0, 'failed');
    await stack.assignment({ id: assignment });
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    await company.action(chainId, 0, 'done');
    const call = (await stack.calls(assignment)).at(-1);
    assert.deepEqual([call?.body, call?.idempotencyKey?.split('/').at(-1)], [{ groupIds: ['502'] }, 'm1']);
    await company.steer(chainId, 'cancel', 1);
    await company.ended(chainId);
  });
});

describe('a failed action of a closed chain', () => {
  it('is reopened', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const right = await stack.assignment();
    const { chainId } = await company.start([send(unknownAssignment(), { groupId: '501' }), udf('T')]);
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'done']);
    const response = await mend(company, chainId, 0, { platformAssignmentId: right });
    assert.deepEqual(await response.json(), { chainId, index: 0, accepted: 'mend', reopened: true });
    const chain = await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.deepEqual(states(chain), ['done', 'done']);
    assert.equal(await stack.effects(right), 1);
    assert.equal((await fieldsOf(company, chainId, 0)).fields.platformAssignmentId, right);
  });
});

describe('an e-mail', { concurrency: true }, () => {
  it('that is edited goes to nobody twice, and gets a new Message-ID', async () => {
    const company = await stack.company();
    const [good, bad, right] = ['good', 'bad', 'right'].map((name) => `${name}@${company.companyId}.example`);
    assert(good && bad && right);
    await stack.breakMail({ code: 550, to: bad });
    const { chainId } = await company.start([email([good, bad]), udf('T', { delayInSeconds: '3000' })]);
    await company.action(chainId, 0, 'partly-failed');
    assert.equal((await mend(company, chainId, 0, { emails: [`Good <${good}>`, right], subject: 'Mended' })).status, 202);
    const { actions } = await company.action(chainId, 0, 'done');
    await stack.healMail();
    const [first, ...others] = await stack.inbox(good);
    assert.deepEqual([first?.Subject, others.length], ['Subject', 0]);
    const [second] = await stack.mails(right, 1);
    assert.equal(second?.Subject, 'Mended');
    assert.deepEqual(
      actions[0]?.deliveries?.map(({ recipient, sent }) => [recipient, sent]),
      [
        [good, true],
        [right, true],
      ],
    );
    await company.steer(chainId, 'cancel', 1);
    await company.ended(chainId);
  });

  it('that is too long to be stored for each recipient has the edited text', async () => {
    const company = await stack.company();
    const to = ['one', 'two', 'three'].map((name) => `${name}@${company.companyId}.example`);
    const { chainId, workflowId } = await company.start([email(['nobody'], { body: 'x'.repeat(60_000) })]);
    await company.action(chainId, 0, 'needs-attention');
    const body = `first line\n${'y'.repeat(60_000)} mended`;
    assert.equal((await mend(company, chainId, 0, { emails: to, body })).status, 202);
    assert.deepEqual(states(await company.ended(chainId)), ['done']);
    for (const address of to) {
      const [mail = assert.fail()] = await stack.mails(address, 1);
      assert((await stack.text(mail)).Text.trim().endsWith('mended'));
    }
    const { historySize = 0 } = await stack.client.workflow.getHandle(workflowId).describe();
    assert(historySize < 400_000, `${historySize} bytes`);
  });
});

describe('recipients that an edit adds', () => {
  it("must be in the company's domains, and count towards its daily limit, in bulk edits too", async () => {
    const company = await stack.company();
    const { companyId } = company;
    const domain = `${companyId}.example`;
    const [one, two, three] = ['one', 'two', 'three'].map((name) => `${name}@${domain}`);
    // The company has no contacts, because the recipients of notices would also count.
    const bounds = { limits: { recipientsPerDay: 4 }, mail: { recipientDomains: [domain] }, notify: {} };
    await stack.store.companies.put(companyId, (before = assert.fail()) => ({ ...before, ...bounds }), actor);
    const used = () => stack.store.usage.of(companyId).recipients;
    // An invalid address does not count.
    const chains = await Promise.all([1, 2].map(() => company.start([email(['nobody'])])));
    for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
    const [first, second] = chains.map(({ chainId }) => chainId);
    assert(first && second);

    const outside = await problemOf(await mend(company, first, 0, { emails: [one, 'x@elsewhere.example'] }), 400);
    assert.equal(outside.errors?.[0]?.pointer, '/fields/emails');
    assert.match(outside.detail, /x@elsewhere\.example: the company sends e-mail only to addresses at /);
    assert.equal(used(), 0);
    assert.equal((await mend(company, first, 0, { emails: [one, two, three] })).status, 202);
    assert.equal(used(), 3);
    assert.deepEqual(states(await company.ended(first)), ['done']);
    const beyond = await problemOf(await mend(company, second, 0, { emails: [one, two] }), 429);
    assert.match(beyond.detail, /would exceed its limit of 4 e-mail recipients a day/);

    const correction = { field: 'emails', replace: { from: 'nobody', to: one } };
    const order = { verb: 'mend', filter: { reason: 'DataMistake' }, correction };
    const bulkOfOne = async () => {
      await eventually('the held chain alone to be found', async () => {
        const { count } = bulkPreviewSchema.parse((await bulkOf(company, order)).body);
        return count === 1 || new Unmet(count);
      });
      return bulkOf(company, { ...order, confirm: 1 });
    };
    assert.equal((await bulkOfOne()).status, 202);
    assert.deepEqual(states(await company.ended(second)), ['done']);
    assert.equal(used(), 4);
    const third = await company.start([email(['nobody'])]);
    await company.action(third.chainId, 0, 'needs-attention');
    assert.equal((await bulkOfOne()).status, 429);
    await company.steer(third.chainId, 'cancel');
  });
});

describe('without workers', () => {
  it('an action is edited with its retry, although no worker can say that it is held', async () => {
    const company = await stack.company();
    const right = await stack.assignment();
    const { chainId } = await company.start([send(unknownAssignment(), { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    const mail = await company.start([email(['nobody'])]);
    await company.action(mail.chainId, 0, 'needs-attention');
    await stack.stopWorker();
    const mended = await decided(() => mend(company, chainId, 0, { platformAssignmentId: right }));
    assert.equal(mended.status, 202);
    const uncounted = await mend(company, mail.chainId, 0, { emails: ['a@b.example'] });
    assert.match(
      (await problemOf(uncounted, 503)).detail,
      /no worker process answers, so the relay cannot count the added recipients|Temporal does not answer correctly/,
    );
    await stack.restartWorker();
    assert.deepEqual(states(await company.ended(chainId)), ['done']);
    await company.steer(mail.chainId, 'cancel');
  });
});

describe('many chains at once', () => {
  it('get one correction after a preview of each result; actions that would still be invalid stay unchanged', async () => {
    const company = await stack.company();
    const ticket = `t-${company.companyId}`;
    const chains = await Promise.all(
      [udf('${ticketId}'), udf(' '), udf('T', { cfName: '' }), udf('', { cfName: '' })].map((action) => company.start([action])),
    );
    for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
    const correction = { field: 'externalSystemTicketId', default: ticket };
    const order = { verb: 'mend', filter: { reason: 'DataMistake' }, correction };
    for (const wrong of [
      { ...order, correction: undefined },
      { ...order, verb: 'retry' },
      { ...order, correction: { ...correction, x: 1 } },
    ])
      assert.equal((await bulkOf(company, wrong)).status, 400);
    const preview = await eventually('all four to be found', async () => {
      const body = bulkPreviewSchema.parse((await bulkOf(company, order)).body);
      return body.count === 4 ? body : new Unmet(body);
    });
    const becomes = new Map(preview.mends?.map(({ chainId, ...mend }) => [chainId, mend]));
    assert.deepEqual(
      chains.map(({ chainId }) => becomes.get(chainId)),
      [
        { index: 0, before: '${ticketId}', after: ticket },
        { index: 0, before: ' ', after: ticket },
        { index: 0, before: 'T' },
        { index: 0, before: '', after: ticket, problem: '/cfName is blank' },
      ],
    );
    const { status, body } = await bulkOf(company, { ...order, confirm: 4 });
    assert.equal(status, 202);
    for (const { chainId } of chains.slice(0, 2)) assert.deepEqual(states(await company.ended(chainId)), ['done']);
    for (const { chainId } of chains.slice(2)) assert.deepEqual(states(await company.read(chainId)), ['needs-attention']);
    const done = await eventually('the bulk to be done', async () => {
      const headers = { authorization: `Bearer ${adminToken}` };
      const bulk = bulkSchema.parse(await (await fetch(bulkSchema.parse(body).links.bulk, { headers })).json());
      return bulk.status === 'completed' ? bulk : new Unmet(bulk);
    });
    assert.deepEqual([done.progress?.steered, done.progress?.unchanged, done.progress?.failed], [2, 1, 0]);
    const refusal = { workflowId: chains[3]?.workflowId, error: 'action 0: /cfName is blank' };
    assert.deepEqual([done.progress?.refused, done.progress?.failures], [1, [refusal]]);
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual([items[0]?.action, items[0]?.details.field], ['chain.bulk', 'externalSystemTicketId']);
    assert(!JSON.stringify(items).includes(ticket));
    for (const { chainId } of chains.slice(2)) await company.steer(chainId, 'cancel');
  });

  it('get a new assignment also in later steps and in texts', async () => {
    const company = await stack.company();
    const [missing, assignment] = [unknownAssignment(), await stack.assignment()];
    const later = { platformAssignmentId: missing, delayInSeconds: '3000' };
    const [mail, other] = [email([`job-${missing}@acme.example`], { ...later, subject: `Nobody for ${missing}` }), send(missing)];
    const { chainId } = await company.start([send(missing), mail, { ...other, delayInSeconds: '3000' }]);
    await company.action(chainId, 0, 'needs-attention');
    const correction = { field: 'platformAssignmentId', replace: { from: missing, to: assignment }, texts: true };
    const order = { verb: 'mend', filter: { chainIds: [chainId] }, correction };
    const preview = await eventually('the chain to be found', async () => {
      const body = bulkPreviewSchema.parse((await bulkOf(company, order)).body);
      return body.count === 1 ? body : new Unmet(body);
    });
    const recipients = { index: 1, field: 'emails', fixed: true };
    const names = { sameAssignment: [1, 2], naming: [recipients, { index: 1, field: 'subject' }] };
    assert.deepEqual(preview.mends, [{ chainId, index: 0, before: missing, after: assignment, ...names }]);
    const wrong = { ...order, correction: { ...correction, field: 'comment' } };
    assert.equal((await bulkOf(company, wrong)).status, 400);
    const { status, body } = await bulkOf(company, { ...order, confirm: 1 });
    assert.equal(status, 202, JSON.stringify(body));
    const { actions } = await company.action(chainId, 0, 'done');
    assert.deepEqual(
      actions.map(({ assignmentId }) => assignmentId),
      [assignment, assignment, assignment],
    );
    const { fields } = await fieldsOf(company, chainId, 1);
    assert.deepEqual([fields.subject, fields.emails], [`Nobody for ${assignment}`, [`job-${missing}@acme.example`]]);
    await eventually('lists to find the chain by its new assignment', async () => {
      const counts = await stack.store.chains.counts(company.companyId, { assignmentId: assignment });
      return [...counts.values()].join() === '1' ? true : new Unmet([...counts]);
    });
    const done = await eventually('the bulk to be done', async () => {
      const headers = { authorization: `Bearer ${adminToken}` };
      const bulk = bulkSchema.parse(await (await fetch(bulkSchema.parse(body).links.bulk, { headers })).json());
      return bulk.status === 'completed' ? bulk : new Unmet(bulk);
    });
    assert.deepEqual([done.progress?.actions, done.progress?.outcomes], [1, { done: 1 }]);
    await company.steer(chainId, 'cancel');
  });
});

describe('many people at once', () => {
  it('who edit different fields: no edit is lost', async () => {
    const company = await stack.company();
    const right = await stack.assignment();
    const { chainId, workflowId } = await company.start([send(unknownAssignment(), { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.stopWorker();
    const handle = stack.client.workflow.getHandle(workflowId);
    await handle.signal('mend', [0, { sendRadius: '25' }]);
    await handle.signal('mend', { index: 0, fields: { platformAssignmentId: right } });
    await handle.signal('retry', [0]);
    await stack.restartWorker();
    await eventually('the chain to have said what it did', async () => {
      const chain = await company.read(chainId);
      return chain.closedAt || chain.actions[0]?.state === 'needs-attention' ? true : new Unmet(chain);
    });
    if ((await company.read(chainId)).closedAt === undefined) await mend(company, chainId, 0, { platformAssignmentId: right });
    assert.deepEqual(states(await company.ended(chainId)), ['done']);
    assert.deepEqual((await stack.calls(right)).at(-1)?.body, { groupIds: ['501'], radiusMiles: 25 });
  });
});
