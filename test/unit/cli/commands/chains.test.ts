/** Sending, showing, watching and steering chains, against a scripted API. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fillIn } from '../../../../src/cli/commands/send.js';
import type { ChainResource } from '../../../../src/contract/chain-resource.js';
import { type Asked, problem, type ScriptedAnswer, scripted } from '../../../cli/local-api.js';
import { relay, type Scripted } from '../../../cli/scripted-terminal.js';

const receivedAt = '2026-07-01T12:00:00.000Z';
const accepted = {
  chainId: 'c1',
  workflowId: 'relay:acme:c1',
  receivedAt,
  actions: [
    { index: 0, action: 'sendEmails', relayId: '4711', runAt: receivedAt },
    { index: 1, action: 'sendEmails', relayId: '4711', runAt: '2126-07-01T12:30:00.000Z' },
  ],
  warnings: [{ pointer: '/0/foo', detail: 'is not a field of sendEmails and is ignored' }],
  links: { chain: 'http://127.0.0.1:8080/co/acme/chains/c1', webUi: 'http://127.0.0.1:8233/x' },
};
type State = ChainResource['actions'][number]['state'];

function chain(status: ChainResource['status'], first: State, more: object = {}): ChainResource {
  const ended = ['completed', 'failed', 'cancelled', 'terminated'].includes(status);
  return {
    chainId: 'c1',
    workflowId: 'relay:acme:c1',
    status,
    receivedAt,
    ...(ended && { closedAt: receivedAt }),
    actions: [{ index: 0, action: 'sendEmails', relayId: '4711', comment: 'tell the manager', state: first, ...more }],
    links: { chain: accepted.links.chain },
  };
}

const trouble = {
  attempts: 3,
  error: { type: 'MailError', message: '550 no such user', retryable: false },
  heldUntil: '2126-07-04T12:00:00.000Z',
  deliveries: [
    { recipient: 'a@x.org', sent: true },
    { recipient: 'b@x.org', sent: false, error: '550' },
  ],
};

describe('chain commands', () => {
  let answers: (asked: Asked) => ScriptedAnswer = () => ({});
  let server: Awaited<ReturnType<typeof scripted>>;
  const directory = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  before(async () => {
    server = await scripted((asked) => answers(asked));
  });
  after(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });

  function run(words: readonly string[], answer: typeof answers, { env, ...more }: Scripted = {}) {
    server.asked.length = 0;
    answers = answer;
    return relay(words, { env: { RELAY_URL: server.url, RELAY_KEY: 'the-key', ...env }, ...more });
  }
  /** Each request for the chain gets the next of these answers. The last answer is repeated. */
  function stages(...chains: readonly (ChainResource | ScriptedAnswer)[]): typeof answers {
    const left = [...chains];
    return ({ method }) => {
      if (method === 'POST') return { status: 202, body: accepted };
      const next = left.length > 1 ? left.shift() : left[0];
      return next !== undefined && 'actions' in next ? { body: next } : (next ?? {});
    };
  }

  it('send a file unchanged, except for the idempotency key', async () => {
    const file = join(directory, 'chain.json');
    const body = '[{"action":"sendEmails"}, 7]\n';
    writeFileSync(file, body);
    const { exitCode, out, err } = await run(['send', 'acme', file, '--idempotency-key', 'k 1'], () => ({
      status: 202,
      body: accepted,
    }));
    assert.deepEqual([exitCode, err], [0, '']);
    assert.deepEqual(server.asked, [
      { method: 'POST', path: '/co/acme/relay', authorization: undefined, idempotencyKey: '"k 1"', body },
    ]);
    assert.match(out, /^Chain c1 is accepted\.\n\n# +ACTION +RULE +RUNS\n0 +sendEmails +4711 +in order\n1 .*\(in \d+ d/);
    assert.match(out, /Warnings:\n {2}\/0\/foo {2}is not a field[\s\S]*npx relay chains show acme c1\n$/);
  });

  it('say that a chain was sent before', async () => {
    const { exitCode, out } = await run(['send', 'acme', '-'], () => ({
      body: accepted,
      headers: { 'Idempotency-Replayed': 'true' },
    }));
    assert.equal(exitCode, 0);
    assert.match(out, /^This idempotency key was used before, for chain c1, .*No new chain runs\./);
  });

  it('fill in a missing rule and token', () => {
    const fill = (given: unknown, rule?: string, token?: string) =>
      JSON.parse(new TextDecoder().decode(fillIn(new TextEncoder().encode(JSON.stringify(given)), { rule, token })));
    for (const [given, rule, token, filled] of [
      [[{ a: 1 }], '7', 't', [{ a: 1, relayId: '7', relayAccessToken: 't' }]],
      [
        [{ relayId: '<RELAY_ID>', relayAccessToken: '<RELAY_ACCESS_TOKEN>' }],
        '7',
        't',
        [{ relayId: '7', relayAccessToken: 't' }],
      ],
      [[{ relayId: '', relayAccessToken: ' ' }], '7', 't', [{ relayId: '7', relayAccessToken: 't' }]],
      [[{ relayId: '8' }, { relayId: 7 }], '7', 't', [{ relayId: '8' }, { relayId: 7, relayAccessToken: 't' }]],
      [[{ relayId: '8' }], undefined, 't', [{ relayId: '8', relayAccessToken: 't' }]],
      [[{ relayAccessToken: 'own' }], '7', 't', [{ relayId: '7', relayAccessToken: 'own' }]],
      [[{}], '7', undefined, [{ relayId: '7' }]],
      [[{}], undefined, undefined, [{}]],
      [{ action: 'x' }, '7', 't', { action: 'x' }],
      [['x', {}], '7', 't', ['x', {}]],
    ] as const)
      assert.deepEqual(fill(given, rule, token), filled);
    for (const text of ['[{"a": s3cret', '\xff']) {
      const bytes = Buffer.from(text, 'latin1');
      assert.equal(fillIn(bytes, { rule: '7', token: 't' }), bytes);
    }
  });

  it('take the token from the environment', async () => {
    await run(['send', 'acme', '-', '--rule', '7'], () => ({ status: 202, body: accepted }), {
      stdin: '\ufeff[{}]',
      env: { RELAY_ACCESS_TOKEN: 't' },
    });
    assert.equal(server.asked[0]?.body, '[{"relayId":"7","relayAccessToken":"t"}]');
    assert.equal(server.asked[0]?.signature, undefined);
  });

  it('sign requests if there is a secret', async () => {
    const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
    for (const [words, env] of [
      [['--webhook-secret', secret], {}],
      [['--idempotency-key', 'k'], { RELAY_WEBHOOK_SECRET: secret }],
    ] as const) {
      await run(['send', 'acme', '-', ...words], () => ({ status: 202, body: accepted }), { stdin: '[{}]', env });
      assert.match(server.asked[0]?.signature ?? '', /^v1,/);
    }
  });

  it('show the prediction of a dry run for each action', async () => {
    const { exitCode, out } = await run(['send', 'acme', '-', '--dry-run'], () => ({
      body: {
        dryRun: true,
        receivedAt,
        actions: [
          {
            index: 0,
            action: 'sendEmails',
            comment: 'tell the manager',
            runAt: 'now',
            outcome: 'skipped',
            reason: 'status was "sent"',
            condition: { text: 'status==draft', holds: false },
            effect: { recipients: ['a@x.org', 'b@x.org'] },
          },
          { index: 1, action: 'ticket_updateUDF', outcome: 'runs' },
        ],
        warnings: [{ pointer: '/0/foo', detail: 'is ignored' }],
      },
    }));
    assert.equal(exitCode, 0);
    assert.deepEqual([server.asked[0]?.path, server.asked[0]?.authorization], ['/co/acme/relay?dryRun=true', 'Bearer the-key']);
    assert.equal(
      out,
      [
        'Dry run: nothing was done.',
        '',
        '0 sendEmails: tell the manager: skipped: status was "sent"',
        '  runAt              now',
        '  condition.text     status==draft',
        '  condition.holds    false',
        '  effect.recipients  a@x.org, b@x.org',
        '',
        '1 ticket_updateUDF: runs',
        '',
        'Warnings:',
        '  /0/foo  is ignored',
        '',
      ].join('\n'),
    );
    // An API without dry runs would have run the chain. The command must not show this as a dry run.
    assert.equal((await run(['send', 'acme', '-', '--dry-run'], () => ({ status: 202, body: {} }))).exitCode, 3);
  });

  it('list every mistake of a chain, and explain a 401', async () => {
    const errors = [
      { pointer: '/0/emails', detail: 'is required' },
      { pointer: '', detail: 'has 101 actions' },
    ];
    const detail = 'Nothing has run. /0/emails is required; the array has 101 actions';
    const wrong = await run(['send', 'acme', '-'], () => problem(400, 'Invalid chain', detail, errors));
    assert.deepEqual(
      [wrong.exitCode, wrong.err],
      [
        1,
        `Invalid chain (400): Nothing has run.\n  /0/emails  is required\n  (all)      has 101 actions\nMore: ` +
          `${server.url}/problems/x\n`,
      ],
    );
    const stranger = await run(['send', 'acme', '-'], () => problem(401, 'Not authorized', 'x'));
    assert.match(stranger.err, /use --rule and --token/);
  });

  it('wait for the end of a chain, and print every change', async () => {
    const { exitCode, out } = await run(
      ['send', 'acme', '-', '--wait'],
      stages(
        chain('running', 'pending'),
        chain('running', 'running'),
        chain('running', 'retrying', { attempts: 1 }),
        chain('completed', 'done'),
      ),
    );
    assert.equal(exitCode, 0);
    assert.match(
      out,
      /\n\d\d:\d\d:\d\d {2}0 sendEmails: tell the manager: pending\n.* 0 .*: running\n.* 0 .*: retrying \(attempts: 1\)\n.* 0 .*: done\n\nThe chain is completed\.\n$/,
    );
  });

  it('stop waiting when a decision is needed, and say how to decide', async () => {
    const { exitCode, out } = await run(
      ['send', 'acme', '-', '--wait'],
      stages(chain('running', 'running'), chain('needs-attention', 'needs-attention', trouble)),
    );
    assert.equal(exitCode, 4);
    assert.match(
      out,
      /The mail server gave an error or no answer\.\n {2}What to do: Fix the cause, then retry\.\n {2}550 no such user\n {2}a@x\.org: sent\n {2}b@x\.org: not sent: 550\n {2}If nobody decides, the step fails: /,
    );
    assert.match(out, /npx relay retry acme c1 0 [\s\S]*npx relay skip acme c1 0 [\s\S]*The chain needs attention\.\n$/);
  });

  it('show the title and the remedy of a failure first, and the remark of a connector', async () => {
    const words = { title: 'Ticket 7 does not exist at Jira', remedy: 'Change the number, then retry' };
    const show = async (status: 'completed' | 'needs-attention', state: State, more: object) =>
      (await run(['chains', 'show', 'acme', 'c1'], stages(chain(status, state, more)))).out;
    const error = { type: 'TicketingError', message: 'GET … answered 404', retryable: false, ...words };
    const held = await show('needs-attention', 'needs-attention', { error });
    assert.match(held, /needs-attention +Ticket 7 does not exist at Jira\n/);
    const lines =
      ' {2}Ticket 7 does not exist at Jira\\.\n {2}What to do: Change the ticket number, then retry\\.\n {2}GET … answered 404';
    assert.match(held, new RegExp(lines));
    assert.match(held, /relay chains fields [\s\S]*relay retry /);
    const fixed = await show('needs-attention', 'needs-attention', { error: { ...error, remedy: 'Use the id as cfName: 5, 6' } });
    assert.match(fixed, /relay chains fields [\s\S]*relay retry /);
    const result = { recipients: 1, note: 'the field had this value already' };
    assert.match(await show('completed', 'done', { result }), /1 recipient; the field had this value already\n/);
    assert.match(await show('completed', 'done', { result: { recipients: 0 } }), /tell the manager +nobody found *\n/);
  });

  it('keep waiting while the API is down', async () => {
    const away = problem(503, 'Temporal cannot be reached', 'x');
    const { exitCode, err } = await run(['send', 'acme', '-', '--wait'], stages(away, away, chain('completed', 'done')));
    assert.deepEqual([exitCode, err], [0, 'Temporal cannot be reached: trying again.\n']);
    const gone = await run(['send', 'acme', '-', '--wait'], stages(problem(404, 'Not found', 'x')));
    assert.equal(gone.exitCode, 1);
  });

  it('show a chain, with an exit code for its status', async () => {
    for (const [status, state, exitCode] of [
      ['running', 'scheduled', 0],
      ['completed', 'done', 0],
      ['completed', 'partly-failed', 0],
      ['needs-attention', 'needs-attention', 4],
      ['failed', 'failed', 4],
      ['cancelled', 'cancelled', 4],
      ['terminated', 'running', 4],
    ] as const)
      assert.equal((await run(['chains', 'show', 'acme', 'c1'], stages(chain(status, state)))).exitCode, exitCode, status);

    const held = await run(
      ['chains', 'show', 'acme', 'c1'],
      stages({ ...chain('needs-attention', 'needs-attention', trouble), partial: true }),
    );
    assert.match(
      held.out,
      /^Chain c1 of company acme: needs-attention\nReceived 2026-07-01 .* ago\)\nNo worker answered in time/,
    );
    assert.match(
      held.out,
      /\nACTION +STATE +WHEN +ATTEMPTS +REMARK\n0 sendEmails: tell the manager +needs-attention +3 +The mail server gave an error or no answer\n/,
    );
    assert.match(held.out, /npx relay retry acme c1 0/);
    const full = await run(
      ['chains', 'show', 'acme', 'c1'],
      stages({ ...chain('needs-attention', 'needs-attention', trouble), historyFull: true as const }),
    );
    assert.match(full.out, /npx relay skip acme c1 0/);
    assert.doesNotMatch(full.out, /npx relay (retry|chains fields)/);
    const closed = await run(['chains', 'show', 'acme', 'c1'], stages(chain('failed', 'failed', trouble)));
    assert.match(closed.out, /npx relay retry acme c1 0/);
    const steered = [{ at: receivedAt, by: 'key desk', verb: 'retry' }];
    const decided = await run(['chains', 'show', 'acme', 'c1'], stages(chain('completed', 'done', { steered })));
    assert.match(decided.out, /\nDecisions:\n {2}0 sendEmails: tell the manager: retry by key desk, 2026-07-01 /);
    const cancelled = await run(['chains', 'show', 'acme', 'c1'], stages(chain('cancelled', 'failed', trouble)));
    assert.doesNotMatch(cancelled.out, /npx relay retry/);
  });

  it("keep senders' texts from controlling the terminal", async () => {
    const evil = chain('failed', 'failed', {
      comment: '\u001b[2J',
      error: { ...trouble.error, message: 'a\u001b]0;x\u0007\nb' },
    });
    const { out } = await run(['chains', 'show', 'acme', 'c1'], stages(evil));
    assert.ok(!out.includes('\u001b') && !out.includes('\u0007'));
  });

  it('watch a chain through a hold to its end', async () => {
    const { exitCode, out } = await run(
      ['chains', 'show', 'acme', 'c1', '--watch'],
      stages(chain('needs-attention', 'needs-attention', trouble), chain('running', 'running'), chain('completed', 'done')),
    );
    assert.equal(exitCode, 0);
    assert.match(
      out,
      /: needs-attention: The mail server gave an error or no answer\n.* 0 .*: running\n.* 0 .*: done\n\nChain c1 of company acme: completed\n/,
    );
    const asJson = await run(
      ['chains', 'show', 'acme', 'c1', '--watch', '--json'],
      stages(chain('running', 'running'), chain('completed', 'done')),
    );
    assert.equal(JSON.parse(asJson.out).status, 'completed');
  });

  it('list chains by status, assignment and rule', async () => {
    const { links } = accepted;
    const ids = { companyId: 'acme', chainId: 'c1', workflowId: 'w', assignmentIds: ['7', '8'], relayIds: ['4711'] };
    const items = [{ ...ids, status: 'failed', receivedAt, failureTypes: ['MailError'], links }];
    const words = ['chains', 'list', 'acme', '--status', 'failed', '--assignment', 'a 7', '--rule', '4711'];
    const { out } = await run(words, () => ({ body: { items } }));
    assert.equal(server.asked[0]?.path, '/co/acme/chains?status=failed&assignmentId=a+7&relayId=4711&limit=50');
    assert.match(
      out,
      /^CHAIN +STATUS +RECEIVED +[^\n]*ASSIGNMENTS +RULES [^\n]*\nc1 +failed +2026-07-01 \S+ +MailError +7, 8 +4711\n$/,
    );

    const none = await run(words, () => ({ body: { items: [] } }));
    assert.equal(none.err, 'No chains match. Chains that need attention have the status needs-attention.\n');
    assert.equal((await run(['chains', 'list', 'acme'], () => ({ body: { items: [] } }))).err, 'No chains match.\n');

    const everywhere = await run(['chains', 'list', '--paused', '--since', receivedAt], () => ({ body: { items } }));
    assert.equal(server.asked[0]?.path, '/chains?since=2026-07-01T12%3A00%3A00.000Z&paused=true&limit=50');
    assert.match(everywhere.out, /^COMPANY +CHAIN [^\n]*\nacme +c1 /);
  });

  it('steer actions and chains', async () => {
    for (const [words, path, body, said] of [
      [['retry', 'acme', 'c1', '0'], 'actions/0/retry', '', /^Action 0 of chain c1 will be retried\./],
      [['skip', 'acme', 'c1', '0'], 'actions/0/skip', '', /will be skipped/],
      [['run-now', 'acme', 'c1', '12'], 'actions/12/runNow', '', /will run now/],
      [['runNow', 'acme', 'c1', '12'], 'actions/12/runNow', '', /will run now/],
      [['retry', 'acme', 'relay:acme:c1', '0'], 'actions/0/retry', '', /^Action 0 of chain c1 will/],
      [['retry', 'acme', 'relay:acme:c1:2', '2'], 'actions/2/retry', '', /^Action 2 of chain c1 will/],
      [['cancel', 'acme', 'c1', '0'], 'actions/0/cancel', '', /^Action 0 of chain c1 will be cancelled/],
      [['cancel', 'acme', 'c1'], 'cancel', '', /^Chain c1 will be cancelled/],
      [['reschedule', 'acme', 'c1', '0', '10m'], 'actions/0/reschedule', '{"seconds":600}', /will run in 10m\./],
      [
        ['chains', 'mend', 'acme', 'c1', '1', '--set', 'cfValue=a=b', '--set', 'cfName=', '--unset', 'comment'],
        'actions/1/mend',
        '{"fields":{"comment":null,"cfValue":"a=b","cfName":""}}',
        /^Action 1 of chain c1 is edited, and runs with the new fields/,
      ],
      [
        ['chains', 'mend', 'acme', 'c1', '1', '--set', 'emails=a@x.org', '--set', 'emails=b@x.org,c@x.org', '--confirm-unknown'],
        'actions/1/mend',
        '{"fields":{"emails":["a@x.org","b@x.org,c@x.org"]},"confirmUnknown":true}',
        /runs with the new fields/,
      ],
      [['reschedule', 'acme', 'c1', '0', '90'], 'actions/0/reschedule', '{"seconds":90}', /will run in 90 seconds\./],
    ] as const) {
      const { exitCode, out } = await run(words, () => ({ status: 202, body: { chainId: 'c1' } }));
      assert.equal(exitCode, 0);
      assert.match(out, said);
      assert.deepEqual(server.asked, [
        { method: 'POST', path: `/co/acme/chains/c1/${path}`, authorization: 'Bearer the-key', idempotencyKey: undefined, body },
      ]);
    }
  });

  it('offer to change the assignment of all actions with the same assignment', async () => {
    const mend = ['chains', 'mend', 'acme', 'c1', '0', '--set', 'platformAssignmentId=7'];
    const answer: typeof answers = ({ method }) =>
      method === 'GET' ? { body: { fields: {}, sameAssignment: [1, 2] } } : { status: 202, body: { sameAssignment: [1, 2] } };
    const sent = () => JSON.parse(server.asked.at(-1)?.body ?? '');
    const asked = await run(mend, answer, { reply: 'y' });
    assert.match(asked.err, /Also change the assignment of actions 1 and 2\? y\/N/);
    assert.deepEqual(sent(), { fields: { platformAssignmentId: '7' }, allActions: true });
    await run(mend, answer, { reply: 'n' });
    assert.deepEqual(sent(), { fields: { platformAssignmentId: '7' } });
    const unasked = await run(mend, answer);
    assert.match(unasked.out, /The assignment of actions 1 and 2 is unchanged\./);
    assert.equal(server.asked.length, 1);
  });

  it('show the fields of an action, and require at least one change', async () => {
    const fields = { action: 'sendEmails', emails: ['ada'], subject: 's' };
    const shown = await run(['chains', 'fields', 'acme', 'c1', '0'], () => ({
      body: { fields, sent: { ...fields, subject: 'r' }, sameAssignment: [1, 2] },
    }));
    assert.deepEqual([shown.exitCode, server.asked[0]?.path], [0, '/co/acme/chains/c1/actions/0/fields']);
    assert.match(shown.out, /emails +ada[\s\S]*as they were sent:[\s\S]*subject +r[\s\S]*in actions 1 and 2: `--all-actions`/);
    for (const words of [[], ['--set', 'cfValue'], ['--set', '=x']])
      assert.equal((await run(['chains', 'mend', 'acme', 'c1', '0', ...words], () => ({}))).exitCode, 2);
    const rejected = ['rejected', 'resend', 'acme', 'r1', '--set'];
    assert.equal((await run([...rejected, 'subject=x'], () => ({}))).exitCode, 2);
    await run([...rejected, '1.emails=a@x.org', '--unset', '0.delayInSecond'], stages(chain('running', 'running')));
    const actions = { 0: { delayInSecond: null }, 1: { emails: ['a@x.org'] } };
    assert.deepEqual(JSON.parse(server.asked[0]?.body ?? ''), { confirm: false, actions });
  });

  it('say where to look if the API refuses to steer', async () => {
    for (const [words, status, detail, next] of [
      [['retry', 'acme', 'c1', '0'], 409, 'This has no effect any more: chain c1 is completed.', 'chains show acme c1'],
      [['retry', 'acme', 'c1', '9'], 404, 'There is no action 9 in chain c1.', 'chains show acme c1'],
      [['retry', 'acme', 'c2', '0'], 404, 'There is no chain c2.', 'chains list acme'],
      [['cancel', 'acme', 'relay:other:c2'], 404, 'There is no chain relay:other:c2.', 'chains list acme'],
      [['chains', 'show', 'acme', 'c2'], 404, 'There is no chain c2.', 'chains list acme'],
    ] as const) {
      const { exitCode, err } = await run(words, () => problem(status, 'Title', detail));
      assert.equal(exitCode, 1);
      assert.equal(err.split('\n')[0], `Title (${status}): ${detail}`);
      assert.match(err, new RegExp(`: npx relay ${next}\n`));
    }
  });

  it('show signals that had no effect', async () => {
    const ignored = ['2026-07-01 12:00:00 UTC, retry [7]: there is no action 7'];
    const { out } = await run(['chains', 'show', 'acme', 'c1'], stages({ ...chain('running', 'running'), ignored }));
    assert.match(out, /\nSignals that had no effect:\n {2}2026-07-01 .*, retry \[7\]: there is no action 7\n/);
  });

  it('list and show rejected requests, and resend one', async () => {
    const { body: refusal } = problem(400, 'Invalid chain', 'Nothing has run. /0/emails is required', [
      { pointer: '/0/emails', detail: 'is required' },
    ]);
    const kept = {
      rejectedId: 'r1',
      receivedAt,
      reason: 'invalid-chain',
      relayIds: ['4711', '12'],
      problem: refusal,
      chainId: 'c7',
    };
    const { out } = await run(['rejected', 'acme'], () => ({ body: { items: [kept] } }));
    assert.match(
      out,
      /^REQUEST +RECEIVED +REASON +RULES +REPEATS +CHAIN ID +PROBLEM\nr1 +2026-\S+ \S+ +invalid-chain +4711, 12 +c7 +Nothing has run\. \/0\/emails is required\n$/,
    );
    const whole = await run(['rejected', 'show', 'acme', 'r1'], () => ({
      body: { ...kept, elements: [{ action: 'sendEmails' }] },
    }));
    assert.equal(server.asked[0]?.path, '/co/acme/rejected/r1');
    assert.match(
      whole.out,
      /^reason +invalid-chain\n[\s\S]*\nInvalid chain \(400\): Nothing has run\.\n {2}\/0\/emails {2}is required\n/m,
    );
    assert.match(whole.out, /\n {4}"action": "sendEmails"\n[\s\S]*npx relay rejected resend acme r1\n$/);
    const sent = await run(['rejected', 'resend', 'acme', 'r1', '--wait'], stages(chain('completed', 'done')));
    assert.deepEqual([sent.exitCode, server.asked[0]?.path], [0, '/co/acme/rejected/r1/resend']);
    assert.match(sent.out, /^Chain c1 is accepted/);
  });

  it('show where an unreadable body breaks and how it can be repaired, send the proposal, and drop the request', async () => {
    const { body: problem400 } = problem(400, 'Malformed body', 'Line 1, column 9: …');
    const kept = {
      rejectedId: 'r1',
      receivedAt,
      reason: 'malformed-body',
      relayIds: ['4711'],
      problem: problem400,
      repeats: 2,
      elements: [],
      body: { text: '[{"a":"b" c"}]', bytes: 14, cut: false, place: { line: 1, column: 9, offset: 8, says: 'here' } },
      proposal: [
        { element: { a: 'b" c' }, authenticated: true },
        { element: { b: 1 }, authenticated: false },
      ],
    };
    const shown = await run(['rejected', 'show', 'acme', 'r1'], () => ({ body: kept }));
    const [line = '', caret = ''] = shown.out
      .split('\n')
      .slice(shown.out.split('\n').findIndex((line) => line.startsWith('Body (14')) + 1);
    assert.deepEqual(
      [line.trim(), line.charAt(caret.indexOf('^')), line.slice(caret.indexOf('^'))],
      [kept.body.text, '"', '" c"}]'],
    );
    assert.match(shown.out, /\n0\n\{[\s\S]*\n1 \(not authenticated/);
    assert.match(shown.out, /rejected resend acme r1 --proposed\n[\s\S]*rejected drop acme r1\n$/);
    const sent = await run(
      ['rejected', 'resend', 'acme', 'r1', '--proposed', '--leave-out', '1,2'],
      stages(chain('running', 'running')),
    );
    assert.deepEqual([sent.exitCode, server.asked[0]?.body], [0, '{"confirm":false,"proposed":true,"leaveOut":[1,2]}']);
    assert.equal((await run(['rejected', 'resend', 'acme', 'r1', '--leave-out', 'x'], () => ({ body: {} }))).exitCode, 2);
    const dropped = await run(['rejected', 'drop', 'acme', 'r1'], () => ({ status: 204 }));
    assert.deepEqual([dropped.exitCode, dropped.out], [0, 'Request r1 is dropped and will not run.\n']);
    assert.equal(server.asked[0]?.path, '/co/acme/rejected/r1/drop');
  });

  it('resend an unauthenticated rejected request only after they have shown its actions and asked for confirmation', async () => {
    const action = '{"action":"sendEmails","emails":["x@elsewhere.example"]}';
    const body = { type: '/problems/not-confirmed', title: 'Not confirmed', status: 409, detail: 'Nothing has run.' };
    const refused = { status: 409, body: { ...body, errors: [{ pointer: '/0', detail: action }] } };
    const api = (asked: Asked) => (asked.body === '{"confirm":true}' ? stages(chain('running', 'running'))(asked) : refused);
    const words = ['rejected', 'resend', 'acme', 'r1'];
    const script = await run(words, api);
    assert.deepEqual([script.exitCode, server.asked.length], [2, 1]);
    assert(script.err.includes(action));
    assert.match(script.err, /--yes/);
    const no = await run(words, api, { reply: 'n' });
    assert.deepEqual([no.exitCode, server.asked.length], [2, 1]);
    assert(no.err.includes(action));
    const yes = await run(words, api, { reply: 'y' });
    assert.deepEqual([yes.exitCode, server.asked.map(({ body }) => body)], [0, ['{"confirm":false}', '{"confirm":true}']]);
    const meant = await run([...words, '--yes'], api);
    assert.deepEqual([meant.exitCode, server.asked.map(({ body }) => body)], [0, ['{"confirm":true}']]);
  });

  it('show the health of the relay', async () => {
    const well = await run(['health'], () => ({ body: { status: 'ready', temporal: 'ok' } }));
    assert.deepEqual([well.exitCode, server.asked[0]?.authorization], [0, undefined]);
    const ill = await run(['health'], () => ({ status: 503, body: { status: 'not ready', temporal: 'cannot be reached' } }));
    assert.equal(ill.exitCode, 1);
    assert.match(ill.out, /temporal +cannot be reached/);
  });
});
