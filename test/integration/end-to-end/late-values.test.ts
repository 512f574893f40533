/**
 * Actions with `if`, and with values of the assignment. The relay reads these values when the action runs, once for each
 * idempotency key.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { dryRun } from '../../../src/api/dry-run.js';
import { eventAction } from '../../chain/event-actions.js';
import { startOfEvent } from '../../end-to-end/event-chains.js';
import { resetToFirst } from '../../end-to-end/resets.js';
import { type Action, actor, email, eventually, readable, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

/** The payloads are plain, so that a test can look for a value in them. */
const stack = await startStack({ keyring: null, recipientsPerDay: 3 });
type Company = Awaited<ReturnType<typeof stack.company>>;

const start = (company: Company, ...elements: Action[]) => startOfEvent(stack, company, elements);
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);
/** For each call that changed the ticket: the end of the idempotency key (from the first `/` on), and the value. */
const written = async (ticket: string) => {
  const calls = (await stack.calls(ticket)).filter(({ method }) => method === 'PATCH');
  return calls.map(({ body, idempotencyKey = '' }) => [
    idempotencyKey.replace(/^[^/]*/, ''),
    (body as { userDefinedFields: { value: string }[] }).userDefinedFields[0]?.value,
  ]);
};
/** The trace lines of the SDK contain messages of failures. No other line may contain the value. */
function assertUnlogged(value: string): void {
  const lines = stack.logged().split('\n');
  assert.deepEqual(
    lines.filter((line) => line.includes(value) && !line.startsWith('{"level":"trace"')),
    [],
  );
}
const ticket = () => `T-${randomUUID()}`;

describe('the value of an assignment', () => {
  it('is read when the action runs, and reused by every retry; after an edit it is read again', async () => {
    const company = await stack.company();
    const [id, T] = [await stack.assignment({ title: 'first' }), ticket()];
    await stack.breakPlatform({ status: 503, path: 'tickets' });
    const { chainId } = await start(company, udf(T, { platformAssignmentId: id, cfValue: 'is ${assignment.title}' }));
    await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id, title: 'second' });
    const tries = (await written(T)).length;
    await company.steer(chainId, 'retry', 0);
    await eventually('another try', async () => ((await written(T)).length > tries ? true : new Unmet(tries)));
    await company.action(chainId, 0, 'needs-attention');
    await stack.heal();
    await company.steer(chainId, 'retry', 0);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done']);
    assert.deepEqual(new Set((await written(T)).map(String)), new Set(['/0,is first']));
    assert.doesNotMatch(JSON.stringify(chain), /late|is first/);
  });

  it('is read again after an edit, and stays the same for the edited action', async () => {
    const company = await stack.company();
    const [id, T] = [await stack.assignment({ title: 'first' }), ticket()];
    await stack.breakPlatform({ status: 400, path: 'tickets' });
    const { chainId } = await start(company, udf(T, { platformAssignmentId: id, cfValue: 'is ${assignment.title}' }));
    await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id, title: 'second' });
    await company.steer(chainId, 'mend', 0, { fields: { cfName: 'Other' } });
    await eventually('a try of the edited action', async () => {
      const last = (await written(T)).at(-1);
      return last?.[0] === '/0/m1' ? true : new Unmet(last);
    });
    await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id, title: 'third' });
    await stack.heal();
    await company.steer(chainId, 'retry', 0);
    await company.ended(chainId);
    assert.deepEqual(new Set((await written(T)).map(String)), new Set(['/0,is first', '/0/m1,is second']));
  });

  it('is reused if the chain runs a failed delayed action again, and after a reset', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const [id, T, other] = [await stack.assignment({ title: 'first' }), ticket(), ticket()];
    await stack.breakPlatform({ status: 400, path: 'tickets' });
    const fields = { platformAssignmentId: id, cfValue: 'is ${assignment.title}' };
    const { chainId, workflowId } = await start(company, udf(T, fields), udf(other, { ...fields, delayInSeconds: '1' }));
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'failed']);
    await stack.assignment({ id, title: 'second' });
    await stack.heal();
    for (const index of [0, 1]) {
      await company.steer(chainId, 'retry', index);
      await company.action(chainId, index, 'done');
    }
    await company.ended(chainId);
    const all = async () => new Set([...(await written(T)), ...(await written(other))].map(String));
    assert.deepEqual(await all(), new Set(['/0,is first', '/1,is first']));

    const tries = (await written(T)).length;
    await resetToFirst(stack.client, workflowId);
    await eventually('a try after the reset', async () => ((await written(T)).length > tries ? true : new Unmet(tries)));
    await company.ended(chainId);
    assert.deepEqual(await all(), new Set(['/0,is first', '/1,is first']));
  });

  it('that is missing: the action needs attention, and the error has the path; a retry reads the value again', async () => {
    const company = await stack.company();
    const id = await stack.assignment();
    const { chainId } = await start(company, send(id, { sendToGroups: '501, ${assignment.customFields.group}' }));
    const { actions } = await company.action(chainId, 0, 'needs-attention');
    const { type, message, retryable } = actions[0]?.error ?? {};
    const said = 'the assignment has no value for ${assignment.customFields.group}';
    assert.deepEqual([type, message, retryable], ['DataMistake', said, false]);
    await stack.assignment({ id, customFields: { group: '502' } });
    await company.steer(chainId, 'retry', 0);
    await company.ended(chainId);
    const [call] = (await stack.calls(id)).filter(({ method }) => method === 'POST');
    assert.deepEqual(call?.body?.groupIds, ['501', '502']);
  });

  it('that is invalid for its field: the action needs attention, and nothing is sent', async () => {
    const company = await stack.company();
    const id = await stack.assignment({ title: 'far away' });
    const { chainId } = await start(company, send(id, { sendRadius: '${assignment.title}' }));
    const { actions } = await company.action(chainId, 0, 'needs-attention');
    assert.match(actions[0]?.error?.message ?? '', /^sendRadius must be a number of miles/);
    await company.steer(chainId, 'mend', 0, { fields: { sendRadius: '5' } });
    await company.ended(chainId);
    const calls = (await stack.calls(id)).filter(({ method }) => method === 'POST');
    assert.deepEqual(
      calls.map(({ body }) => body),
      [{ groupIds: [], radiusMiles: 5 }],
    );
  });
});

describe('a value that cannot be used', () => {
  it('is not in the log', async () => {
    const company = await stack.company();
    const id = await stack.assignment({ title: 'Z9TIME' });
    const fields = { platformAssignmentId: id, cfValue: '${assignment.title}', cfTargetDateFormat: 'yyyy' };
    const { chainId } = await start(company, udf('T', fields));
    const { actions } = await company.action(chainId, 0, 'needs-attention');
    assert.match(actions[0]?.error?.message ?? '', /Z9TIME/);
    assertUnlogged('Z9TIME');
    await company.steer(chainId, 'cancel');
  });
});

describe('an expression', () => {
  it('can refer to the event, the assignment and the request, and must hold in addition to the condition', async () => {
    const company = await stack.company();
    const id = await stack.assignment({ status: 'draft' });
    const of = (text: string, more: Action = {}) => udf('T', { platformAssignmentId: id, if: text, ...more });
    const { chainId } = await start(
      company,
      of('event.n > 3 && assignment.status == "draft"'),
      of('event.n > 4'),
      of('event.n > 3', { actionCondition: 'status==sent' }),
      of('incomingValue == "x"', { incomingValue: 'x', actionCondition: 'incomingValue==x' }),
      of('assignment.nothing > 3'),
    );
    const { actions } = await company.action(chainId, 4, 'needs-attention');
    assert.deepEqual(states({ actions }), ['done', 'skipped', 'skipped', 'done', 'needs-attention']);
    const reasons = actions.slice(1, 3).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['event.n was 4', 'status was "draft"']);
    assert.match(actions[4]?.error?.message ?? '', /^the condition "if" cannot be checked: /);
    await company.steer(chainId, 'skip', 4);
    await company.ended(chainId);
  });
});

function limit({ companyId }: Company, recipientsPerDay: number) {
  const change = (stored: object | undefined) => ({
    ...stored,
    companyId,
    name: 'n',
    timeZone: 'UTC',
    limits: { recipientsPerDay },
  });
  return stack.store.companies.put(companyId, change, actor);
}

describe('an e-mail with values of the assignment', () => {
  it('goes to the recipients that the assignment names; each copy has all needed values, which are escaped in HTML', async () => {
    const company = await stack.company();
    const [one, two] = [`${randomUUID()}@x.example`, `${randomUUID()}@x.example`];
    const id = await stack.assignment({
      title: '<b>A & B</b>',
      ownerEmail: `${one}, ${two}`,
      customFields: { secret: 'Z9KEEP' },
    });
    const { chainId, workflowId } = await start(
      company,
      email(['${assignment.ownerEmail}'], {
        platformAssignmentId: id,
        subject: 'Nobody accepted ${assignment.title}',
        body: '${assignment.title} ${assignment.customFields.secret} $${literal}',
        bodyHtml: '<p>${assignment.title}</p>',
      }),
    );
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions[0]?.deliveries?.map(({ recipient }) => recipient),
      [one, two],
    );
    for (const recipient of [one, two]) {
      const [message] = await stack.mails(recipient, 1);
      assert(message);
      assert.equal(message.Subject, 'Nobody accepted <b>A & B</b>');
      const { Text, HTML } = await stack.text(message);
      assert.equal(Text.trim(), '<b>A & B</b> Z9KEEP ${literal}');
      assert.equal(HTML.trim(), '<p>&lt;b&gt;A &amp; B&lt;/b&gt;</p>');
    }
    assert.equal(stack.store.usage.of(company.companyId).recipients, 2);

    // The values are in payloads only.
    const { events = [] } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
    const described = await stack.client.workflow.getHandle(workflowId).describe();
    const metadata = (events ?? []).map(({ userMetadata }) => readable(userMetadata));
    const shown = [readable(described.raw.workflowExecutionInfo), ...metadata].join('\n');
    for (const value of ['Z9KEEP', 'A & B', one]) {
      assert(!shown.includes(value), `${value} is shown`);
      assertUnlogged(value);
    }
    assert(readable(events).includes('Z9KEEP'));
  });

  it("is read from the chain's input if it is large, also after an edit", async () => {
    const company = await stack.company();
    const to = `${randomUUID()}@x.example`;
    const id = await stack.assignment({ title: 'T-1', ownerEmail: to });
    const large = (mark: string) => `${mark} ${'long '.repeat(20_000)}`;
    await stack.breakMail({ code: 550 });
    const { chainId } = await start(
      company,
      email(['${assignment.ownerEmail}'], { platformAssignmentId: id, body: large('is ${assignment.title}'), subject: 'first' }),
    );
    await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id, title: 'T-2' });
    await stack.healMail();
    await company.steer(chainId, 'mend', 0, { fields: { subject: 'second' } });
    await company.ended(chainId);
    const [message] = await stack.mails(to, 1);
    assert(message);
    assert.equal(message.Subject, 'second');
    assert((await stack.text(message)).Text.startsWith('is T-2 long'));
  });

  it('asks the workflow for long values, which have no room in the input of each recipient', async () => {
    const company = await stack.company();
    await limit(company, 9);
    const recipients = Array.from({ length: 9 }, (_, place) => `${place}-${randomUUID()}@x.example`);
    const title = `long ${'x'.repeat(8000)}`;
    const id = await stack.assignment({ title, ownerEmail: recipients.join() });
    const fields = { platformAssignmentId: id, body: '${assignment.title}' };
    const { chainId, workflowId } = await start(company, email(['${assignment.ownerEmail}'], fields));
    await company.ended(chainId);
    for (const recipient of recipients) {
      const [message] = await stack.mails(recipient, 1);
      assert(message && (await stack.text(message)).Text.startsWith(title));
    }
    const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
    assert.equal(readable(events).split(title).length - 1, 2, 'in the status at the end, and in the answer of the check');
  });

  it('goes to no recipient of another domain', async () => {
    const company = await stack.company();
    await stack.store.companies.put(
      company.companyId,
      (stored) => ({
        ...stored,
        companyId: company.companyId,
        name: 'n',
        timeZone: 'UTC',
        mail: { recipientDomains: ['x.example'] },
      }),
      actor,
    );
    const id = await stack.assignment({ ownerEmail: 'ada@elsewhere.example' });
    const { chainId } = await start(company, email(['${assignment.ownerEmail}'], { platformAssignmentId: id }));
    const { actions } = await company.action(chainId, 0, 'needs-attention');
    assert.match(actions[0]?.error?.message ?? '', /^emails ada@elsewhere\.example: .*x\.example/);
    assert.equal(actions[0]?.deliveries, undefined);
    await company.steer(chainId, 'cancel');
  });

  it('needs attention above the daily limit of recipients, and counts each recipient once', async () => {
    const company = await stack.company();
    const [one, two, three] = ['1', '2', '3'].map((name) => `${name}-${randomUUID()}@x.example`);
    const id = await stack.assignment({ ownerEmail: `${one}, ${two}, ${three}` });
    stack.store.usage.add(company.companyId, { actions: 0, recipients: 1 });
    const { chainId } = await start(company, email(['${assignment.ownerEmail}'], { platformAssignmentId: id }));
    const { actions } = await company.action(chainId, 0, 'needs-attention');
    const { type, message, remedy } = actions[0]?.error ?? {};
    assert.equal(type, 'ConfigurationMistake');
    assert.match(
      `${message} ${remedy}`,
      /would exceed its limit of 3 e-mail recipients a day.*Retry the step after midnight UTC/,
    );
    await limit(company, 50);
    await stack.breakMail({ code: 451 });
    await company.steer(chainId, 'retry', 0);
    await company.until(chainId, ({ actions }) => actions[0]?.deliveries?.length === 3, 'a try of all recipients');
    await company.action(chainId, 0, 'needs-attention');
    await stack.healMail();
    await company.steer(chainId, 'retry', 0);
    await company.ended(chainId);
    await eventually('each recipient to be counted once', async () => {
      const notices = (await stack.inbox(company.admin)).length; // The recipients of notices also count.
      const used = stack.store.usage.of(company.companyId).recipients;
      return used === 1 + 3 + notices || new Unmet({ used, notices });
    });
  });
});

describe('a dry run', () => {
  const look = async (fields: Action, facts: Action, valuesShown = true) => {
    const { companyId, relayId } = await stack.company();
    const id = await stack.assignment(facts);
    const actions = [eventAction({ ...fields, platformAssignmentId: id }, { relayId, event: { n: 4 } })];
    const { actions: seen } = await dryRun(stack, { companyId, actions, warnings: [], valuesShown });
    const { outcome, reason, condition, effect } = seen[0] ?? assert.fail();
    return { outcome, reason, condition, effect: effect as Record<string, unknown> | undefined };
  };
  const late = udf('T', { cfValue: 'is ${assignment.title}', if: 'event.n > 3 && assignment.status == "draft"' });

  it('shows the effect with the values, and the text of the condition', async () => {
    const { outcome, condition, effect } = await look(late, { title: 'Roof' });
    assert.deepEqual([outcome, condition?.text, condition?.holds], ['runs', late.if, true]);
    assert.equal(effect?.value, 'is Roof');
  });

  it('does not show the values or their errors to a sender', async () => {
    const { outcome, condition, effect } = await look(late, { title: 'Roof' }, false);
    assert.deepEqual([outcome, condition, effect?.value], ['runs', { text: late.if, holds: true }, 'is ${assignment.title}']);
    const wrong = await look(udf('T', { cfValue: '${assignment.title}', cfTargetDateFormat: 'yyyy' }), { title: 'Roof' }, false);
    assert.deepEqual([wrong.outcome, wrong.effect?.value], ['needs-attention', '${assignment.title}']);
    assert.match(wrong.reason ?? '', /^the data of the assignment cannot be used/);
  });

  const cases: [name: string, fields: Action, outcome: string, reason: RegExp][] = [
    [
      'a value that is missing',
      udf('T', { cfValue: '${assignment.none}' }),
      'needs-attention',
      /no value for \$\{assignment\.none\}/,
    ],
    ['a value that cannot be used', send('', { sendRadius: '${assignment.title}' }), 'needs-attention', /^sendRadius must be/],
    ['an expression that is not true', udf('T', { if: 'event.n > 4' }), 'skipped', /^event\.n was 4/],
    [
      'an expression that fails',
      udf('T', { if: 'assignment.none > 4' }),
      'needs-attention',
      /^the condition "if" cannot be checked/,
    ],
  ];
  for (const [name, fields, outcome, reason] of cases)
    it(`predicts ${name}`, async () => {
      const seen = await look(fields, { title: 'Roof' });
      assert.equal(seen.outcome, outcome);
      assert.match(seen.reason ?? '', reason);
    });
});
