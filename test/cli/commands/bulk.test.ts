/** Steering many chains, and pausing, against an API that answers by a script. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Asked, problem, type ScriptedAnswer, scripted } from '../local-api.js';
import { relay, type Scripted } from '../scripted-terminal.js';

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
  ...(progress && { progress: { done: 214, steered: 210, actions: 211, unchanged: 4, failed: 0, failures: [], ...progress } }),
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

  it('shows what it concerns, and does it once that is confirmed', async () => {
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
    assert.match(out, /211 actions in 210 chains steered; in 4 chains there was nothing to do any more\.\n$/);
    assert.match(err, /npx relay bulk show b1 acme/);
  });

  it('corrects the same field of many, and shows what each becomes', async () => {
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

  it('does nothing that is not confirmed', async () => {
    const silent = await run(['bulk', 'cancel', 'acme'], () => ({ body: preview }));
    assert.deepEqual([silent.exitCode, server.asked.length], [2, 1]);
    assert.match(silent.err, /--yes/);
    const none = await run(['bulk', 'cancel', 'acme'], () => ({ body: { ...preview, count: 0, first: [] } }));
    assert.deepEqual([none.exitCode, none.out], [0, 'There is no such chain.\n']);
    for (const words of [
      ['bulk', 'cancel'],
      ['bulk', 'cancel', 'acme', '--all-companies'],
      ['bulk', 'cancel', 'acme', '--confirm', 'all'],
      ['bulk', 'cancel', 'acme', '--since', 'soon'],
    ])
      assert.equal((await run(words, () => ({}))).exitCode, 2);
    assert.equal(server.asked.length, 0);
  });

  it('takes the count beforehand, across companies too', async () => {
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

  it('shows one that was begun before', async () => {
    const { out } = await run(['bulk', 'show', 'b1'], () => ({ body: bulk('running') }));
    assert.equal(server.asked[0]?.path, '/chains/bulk/b1');
    assert.match(out, /^retry in 214 chains, by admin, 2026-07-01 \S+: running\nNo worker answers/);
  });

  it('pauses and goes on', async () => {
    const pauses = [{ what: 'platform', since: at, reason: 'new version' }];
    const paused = await run(['pause', 'acme', '--what', 'platform', '--reason', 'new version', '--until', at], () => ({
      body: { pauses },
    }));
    assert.deepEqual(
      server.asked.map(({ method, path, body }) => [method, path, JSON.parse(body)]),
      [['PUT', '/admin/companies/acme/pause', { what: 'platform', reason: 'new version', until: at }]],
    );
    assert.match(paused.out, /platform +2026-07-01 .* somebody ends it +new version\n\n.*npx relay chains list acme --paused\n$/);
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
      'goes on until nothing is left',
      [{ erased: 200, remains: remains(150) }, { erased: 150 }],
      0,
      /^350 runs erased\.\nNothing is left\.\n$/,
    ],
    [
      'stops where something is open yet, with 1',
      [{ erased: 5, remains: remains(0, 2) }],
      1,
      /^5 runs erased\.\nTemporal keeps 0 closed and 2 open runs of it\. .* after 30 days\.\nBegin again/,
    ],
    [
      'stops where nothing more is done, with 1',
      [{ erased: 0, remains: remains(3) }],
      1,
      /^0 runs erased\.\nTemporal keeps 3 closed/,
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

  it('rotate goes on while something is done, says how far it is, and gets 1 where something is left', async () => {
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
    assert.match(told.out, /Key new encrypts and decrypts\.\nKey old decrypts\.\n\n.*\nrules +lost \(is missing\) +2\n/);
    server.close();
  });
});
