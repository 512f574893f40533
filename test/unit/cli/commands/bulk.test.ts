/** Bulk steering and pausing, against a scripted API. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Asked, problem, type ScriptedAnswer, scripted } from '../../../cli/local-api.js';
import { relay, type Scripted } from '../../../cli/scripted-terminal.js';

const at = '2026-07-01T12:00:00.000Z';
const listed = {
  companyId: 'acme',
  chainId: 'c1',
  workflowId: 'relay:acme:c1',
  status: 'needs-attention',
  receivedAt: at,
  assignmentIds: [],
  relayIds: [],
  failureTypes: ['PlatformError'],
  summary: 'acme: 1 action',
  links: { chain: 'http://127.0.0.1:8080/co/acme/chains/c1' },
};
const preview = { verb: 'retry', count: 214, first: [listed] };
const bulk = (status: string, progress?: object) => ({
  bulkId: 'b1',
  workflowId: 'relay-bulk:b1',
  status,
  verb: 'retry',
  filter: {},
  count: 214,
  by: 'admin',
  startedAt: at,
  ...(progress && {
    progress: { done: 214, steered: 210, actions: 211, unchanged: 4, failed: 0, refused: 0, failures: [], ...progress },
  }),
  links: { bulk: 'http://127.0.0.1:8080/chains/bulk/b1' },
});

describe('relay bulk', () => {
  let answers: (asked: Asked) => ScriptedAnswer = () => ({});
  let server: Awaited<ReturnType<typeof scripted>>;
  before(async () => {
    server = await scripted((asked) => answers(asked));
  });
  after(() => server.close());

  function run(words: readonly string[], answer: typeof answers, more: Scripted = {}) {
    server.asked.length = 0;
    answers = answer;
    return relay(words, { ...more, env: { RELAY_URL: server.url, RELAY_KEY: 'k', ...more.env } });
  }
  const script =
    (end: object): typeof answers =>
    ({ method, body }) =>
      method === 'GET' ? { body: end } : JSON.parse(body).confirm ? { status: 202, body: bulk('running') } : { body: preview };

  it('shows the outcome of each action, and exits with 4 if an action failed again', async () => {
    const outcomes = { done: 210, 'needs-attention': 1 };
    const failures = [{ workflowId: 'relay:acme:c7', error: 'action 0 failed again: no assignment 2002' }];
    const { exitCode, out } = await run(['bulk', 'retry', 'acme', '--yes'], script(bulk('completed', { outcomes, failures })));
    assert.equal(exitCode, 4);
    assert.match(out, /211 actions retried: 1 failed again, 210 done\.\n.*\n {2}relay:acme:c7: action 0 failed again: no/);
  });

  it('shows the affected chains, and steers them after the confirmation', async () => {
    const words = ['bulk', 'retry', 'acme', '--reason', 'PlatformError', '--since', at, '--yes'];
    const { exitCode, out, err } = await run(words, script(bulk('completed', {})));
    assert.equal(exitCode, 0);
    const filter = { reason: 'PlatformError', since: at };
    assert.deepEqual(
      server.asked.map(({ method, path, body }) => [method, path, body === '' ? '' : JSON.parse(body)]),
      [
        ['POST', '/co/acme/chains/bulk', { verb: 'retry', filter }],
        ['POST', '/co/acme/chains/bulk', { verb: 'retry', filter, confirm: 214 }],
        ['GET', '/co/acme/chains/bulk/b1', ''],
      ],
    );
    assert.match(
      out,
      /^214 chains:\nCOMPANY +CHAIN [^\n]*\nacme +c1 +needs-attention +2026-07-01 \S+ +PlatformError +acme: 1 action\nand 213 more\n/,
    );
    assert.match(out, /211 actions retried\.\n4 chains did not change\.\n$/);
    assert.match(err, /npx relay bulk show b1 acme/);
  });

  it('accepts chain ids', async () => {
    await run(['bulk', 'skip', 'acme', '--chain-ids', 'c1,c2', '--chain-ids', 'c3', '--yes'], script(bulk('completed', {})));
    assert.deepEqual(JSON.parse(server.asked[0]?.body ?? ''), { verb: 'skip', filter: { chainIds: ['c1', 'c2', 'c3'] } });
  });

  it('corrects one field of many actions, and shows each result', async () => {
    const mends = [
      { chainId: 'c1', index: 0, before: ['a@exampel.com'], after: ['a@example.com'] },
      { chainId: 'c2', index: 1, before: ['b@x.org'] },
    ];
    const words = [
      'bulk',
      'mend',
      'acme',
      '--field',
      'emails',
      '--replace',
      'exampel.com=example.com',
      '--trim',
      '--rule',
      '4711',
    ];
    const { out } = await run([...words, '--yes'], ({ method, body }) => {
      if (method === 'GET') return { body: bulk('completed', {}) };
      return JSON.parse(body).confirm ? { status: 202, body: bulk('running') } : { body: { ...preview, mends } };
    });
    const correction = { field: 'emails', replace: { from: 'exampel.com', to: 'example.com' }, trim: true };
    const order = { verb: 'mend', filter: { relayId: '4711' }, correction };
    assert.deepEqual(
      server.asked.slice(0, 2).map(({ body }) => JSON.parse(body)),
      [order, { ...order, confirm: 214 }],
    );
    assert.match(out, /^214 chains:\nCHAIN +ACTION +BEFORE +AFTER[^\n]*\nc1 +0 +a@exampel\.com +a@example\.com/);
    assert.equal((await run([...words, '--replace', 'x'], () => ({}))).exitCode, 2);
  });

  it('does nothing without confirmation', async () => {
    const silent = await run(['bulk', 'cancel', 'acme'], () => ({ body: preview }));
    assert.deepEqual([silent.exitCode, server.asked.length], [2, 1]);
    assert.match(silent.err, /--yes/);
    const none = await run(['bulk', 'cancel', 'acme'], () => ({ body: { ...preview, count: 0, first: [] } }));
    assert.deepEqual([none.exitCode, none.out], [0, 'No chains match.\n']);
    for (const words of [
      ['bulk', 'cancel'],
      ['bulk', 'cancel', 'acme', '--all-companies'],
      ['bulk', 'cancel', 'acme', '--confirm', 'all'],
      ['bulk', 'cancel', 'acme', '--since', 'soon'],
    ])
      assert.equal((await run(words, () => ({}))).exitCode, 2);
    assert.equal(server.asked.length, 0);
  });

  it('accepts the expected count in advance, across companies too', async () => {
    const { exitCode } = await run(
      ['bulk', 'run-now', '--all-companies', '--confirm', '214'],
      script(bulk('completed', { failed: 1, failures: [{ workflowId: 'relay:acme:c9', error: 'no answer' }] })),
    );
    assert.equal(exitCode, 4);
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      ['/chains/bulk', '/chains/bulk/b1'],
    );
    const changed = await run(['bulk', 'skip', 'acme', '--confirm', '2'], () => problem(409, 'Another number of chains', 'x'));
    assert.equal(changed.exitCode, 1);
    assert.match(changed.err, /Nothing was done/);
  });

  it('shows an earlier bulk order', async () => {
    const { out } = await run(['bulk', 'show', 'b1'], () => ({ body: bulk('running') }));
    assert.equal(server.asked[0]?.path, '/chains/bulk/b1');
    assert.match(out, /^retry in 214 chains, by admin, 2026-07-01 \S+: running\nNo worker answers/);
  });

  it('pauses and unpauses', async () => {
    const pauses = [{ what: 'platform', since: at, reason: 'new version' }];
    const paused = await run(['pause', 'acme', '--what', 'platform', '--reason', 'new version', '--until', at], () => ({
      body: { pauses },
    }));
    assert.deepEqual(
      server.asked.map(({ method, path, body }) => [method, path, JSON.parse(body)]),
      [['PUT', '/admin/companies/acme/pause', { what: 'platform', reason: 'new version', until: at }]],
    );
    assert.match(paused.out, /platform +2026-07-01 .* you end it +new version\n\n.*npx relay chains list acme --paused\n$/);
    const ended = await run(['unpause', 'acme', '--what', 'platform'], () => ({ body: { ended: ['platform'] } }));
    assert.equal(server.asked[0]?.path, '/admin/companies/acme/pause?what=platform');
    assert.match(ended.out, /No longer paused: platform/);
    assert.equal((await run(['pauses', 'acme'], () => ({ body: { pauses: [] } }))).out, 'Nothing is paused.\n');
  });
});

describe('relay companies erase', () => {
  const remains = (closed: number, open = 0) => ({ open, closed, retentionDays: 30, until: at });
  const cases: [what: string, answers: object[], exitCode: number, out: RegExp][] = [
    [
      'continues until nothing is left',
      [{ erased: 200, remains: remains(150) }, { erased: 150 }],
      0,
      /^350 runs erased\.\nNothing is left\.\n$/,
    ],
    [
      'stops with exit code 1 if something is still open',
      [{ erased: 5, remains: remains(0, 2) }],
      1,
      /^5 runs erased\.\nTemporal still has 0 closed and 2 open runs of the company\.[^\n]* after 30 days, the last run by \S+ \S+\.\nRun the command again/,
    ],
    [
      'stops with exit code 1 if a call erased nothing',
      [{ erased: 0, remains: remains(3) }],
      1,
      /^0 runs erased\.\nTemporal still has 3 closed/,
    ],
  ];
  for (const [what, answers, exitCode, out] of cases)
    it(what, async () => {
      const left = [...answers];
      const server = await scripted(() => ({ body: left.shift() }));
      const ran = await relay(['companies', 'erase', 'acme', '--yes'], {
        env: { RELAY_URL: server.url, RELAY_ADMIN_TOKEN: 'a' },
      });
      await server.close();
      assert.deepEqual(
        server.asked.map(({ method, path }) => `${method} ${path}`),
        answers.map(() => 'POST /admin/companies/acme/erase'),
      );
      assert.equal(ran.exitCode, exitCode, ran.err);
      assert.match(ran.out, out);
      assert.equal(ran.err, answers.length > 1 ? '200 runs erased, 150 left\n' : '');
    });

  it('asks first', async () => {
    const server = await scripted(() => ({ body: { erased: 0 } }));
    const ran = await relay(['companies', 'erase', 'acme'], { env: { RELAY_URL: server.url, RELAY_ADMIN_TOKEN: 'a' } });
    await server.close();
    assert.deepEqual([ran.exitCode, server.asked.length], [2, 0]);
  });
});

describe('relay encryption', () => {
  const status = { keys: ['new', 'old'], rows: [{ table: 'rules', keyId: 'lost', rows: 2 }], left: 2 };

  it('rotate continues while there is progress, reports it, and exits with 1 if values remain', async () => {
    const lefts = [400, 200, 2, 2];
    const server = await scripted(({ method, path }) => {
      const rotated = lefts.length > 1 ? 200 : 0;
      if (method === 'POST' && path === '/admin/encryption/rotate')
        return { body: { ...status, left: lefts.shift(), rotated, unreadable: rotated ? [] : ['a row of rules: no key lost'] } };
      return { body: status };
    });
    const env = { RELAY_URL: server.url, RELAY_ADMIN_TOKEN: 'a' };
    const done = await relay(['encryption', 'rotate'], { env });
    assert.deepEqual([done.exitCode, lefts], [1, []]);
    assert.match(done.err, /200 rows encrypted, 400 left\n400 rows encrypted, 200 left/);
    assert.match(done.out, /^600 rows encrypted, 2 left\.\na row of rules: no key lost\n/);
    const told = await relay(['encryption', 'status'], { env });
    assert.match(told.out, /Key new encrypts and decrypts\.\nKey old decrypts\.\n\n.*\nrules +lost \(missing\) +2\n/);
    server.close();
  });
});
