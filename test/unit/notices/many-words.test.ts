import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cause, ManyNotice, Member, ThroughNotice } from '../../../src/contract/notices.js';
import { renderNotice } from '../../../src/notices/words.js';

const since = '2026-07-01T12:00:00.000Z';
const cause: Cause = {
  id: 'c1',
  companyId: 'acme',
  relayId: '7',
  kind: 'needs-attention',
  reason: { type: 'PlatformError', message: 'POST /assignments/1/send answered 404: no assignment 1' },
};
const member = (n: number, more: Partial<Member> = {}): Member => ({
  chainId: `c-${n}`,
  index: 1,
  relayId: '7',
  state: 'needs-attention',
  at: since,
  assignmentId: `${n}`,
  message: `POST /assignments/${n}/send answered 404: no assignment ${n}`,
  runId: `r-${n}`,
  receivedAt: since,
  heldUntil: `2026-07-04T12:00:0${n}.000Z`,
  ...more,
});
const context = {
  companyName: 'Acme',
  ruleName: 'Route',
  timeZone: 'America/Chicago',
  namespace: 'default',
  links: { api: 'http://127.0.0.1:8080', webUi: 'http://127.0.0.1:8233/w' },
};
const many = (kind: Cause['kind'], count: number, actions: number, first: Member[]): ManyNotice => ({
  kind: 'many',
  cause: { ...cause, kind },
  companyId: 'acme',
  relayId: '7',
  count,
  actions,
  first,
  since,
  at: '2026-07-01T12:01:00.000Z',
});
const rendered = (notice: ManyNotice | ThroughNotice, more = {}) => renderNotice(notice, { ...context, ...more });

describe('a notice about many chains', () => {
  it('says how many, why, until when, and where to retry them', () => {
    const { subject, text } = rendered(many('needs-attention', 214, 300, [member(2), member(1)]));
    assert.equal(subject, '[relay] Needs attention: 214 chains. Assignments do not exist (Acme)');
    assert.equal(
      text,
      `300 steps in 214 chains need a decision, all for the same reason

2026-07-01 07:01:00 CDT
Acme

Assignments do not exist.
Fix the problem, then retry.

Show 300 steps in the console: http://127.0.0.1:8080/companies/acme/causes/c1

The link opens the relay, where you sign in. There you can edit, retry or skip all these steps together.

What happens next:
  If nobody decides, these steps fail. The earliest fails at 2026-07-04 07:00:01 CDT. When a step fails, the steps that wait for it do not run.
  You get one notice when this problem is solved.

2 of 300 steps:
  Assignment 2, step 2: http://127.0.0.1:8080/companies/acme/chains/c-2
  Assignment 1, step 2: http://127.0.0.1:8080/companies/acme/chains/c-1

Technical details (for developers):
  POST /assignments/2/send answered 404: no assignment 2
  This is the error of the first chain. In the other chains, the numbers or addresses can be different.

Problem c1, company acme
`,
    );
    assert.match(
      rendered(many('needs-attention', 214, 300, [member(2)]), { forOperator: true }).text,
      new RegExp(
        [
          'For operators:',
          `  npx relay bulk retry acme --reason PlatformError --since ${since}`,
          '  npx relay causes take acme c1',
          '  npx relay causes silence acme c1 4h',
          '  These chains in the API .you need a token.: http://127.0.0.1:8080/co/acme/chains.status=needs-attention&reason=PlatformError&since=2026-07-01T12%3A00%3A00.000Z',
        ].join('\n'),
      ),
    );
  });

  for (const [count, chosen, wrong] of [
    [214, [2, 1], 'Assignments do not exist at WorkMarket'],
    [3, [2, 3, 4], '3 assignments do not exist at WorkMarket'],
    [1, [3], 'Assignment 3 does not exist at WorkMarket'],
  ] as const)
    it(`begins with the words of the first failure, for its own assignments: ${wrong}`, () => {
      const words = { title: 'Assignment 1 does not exist at WorkMarket', remedy: 'Change the number, then retry' };
      const members = chosen.map((n) => member(n));
      const notice = many('needs-attention', count, count, members);
      const { text } = rendered({ ...notice, cause: { ...cause, reason: { ...cause.reason, ...words } } });
      assert.ok(text.includes(`\n\n${wrong}.\nChange the assignment number, then retry.\n`), text);
    });

  it("names a few chains in its commands, with the API's address, and counts only these chains", () => {
    const links = { ...context.links, api: 'https://relay.example' };
    const { text, html } = rendered(many('needs-attention', 1, 1, [member(3)]), { links, forOperator: true });
    assert.match(text, /^1 step needs a decision\n/);
    assert.match(text, /^ {2}npx relay retry acme c-3 1 --url https:\/\/relay\.example$/m);
    assert.doesNotMatch(text, /bulk|none of these/);
    assert.match(html, /href="https:\/\/relay\.example\/companies\/acme\/chains\/c-3"/);
  });

  it('has a link for each decision if only one step is concerned', () => {
    const hold = 'https://relay.example/hold/x';
    const notice = many('needs-attention', 1, 1, [member(3)]);
    for (const [edits, fix, open] of [
      [false, 'http://127.0.0.1:8080/companies/acme/chains/c-3', ''],
      [true, `${hold}#fix`, '“Fix”, '],
    ] as const) {
      const { text, subject } = rendered(notice, { edits, holdLink: () => hold });
      const links = `Fix: ${fix}\nRetry: ${hold}#retry\nSkip: ${hold}#skip\nShow 1 step in the console: `;
      assert.ok(text.includes(`\n${links}`), text);
      assert.ok(text.includes(`\nThe links ${open}“Retry” and “Skip” need no sign-in: `), text);
      assert.equal(subject, '[relay] Needs attention: assignment 3 does not exist (Route)');
      assert.equal(text.match(/\/hold\/x/g)?.length, edits ? 3 : 2);
    }
    const down = many('needs-attention', 1, 1, [member(3, { message: 'POST /assignments/3/send answered 503' })]);
    const { text } = rendered(down, { edits: true, holdLink: () => hold });
    assert.ok(text.includes(`\nRetry: ${hold}#retry\nSkip: ${hold}#skip\nShow 1 step`), text);
    assert.doesNotMatch(text, /^Fix: /m);
  });

  for (const kind of ['gave-up', 'failed'] as const)
    it(`that failed (${kind}) retries the closed chains`, () => {
      const { text } = rendered(many(kind, 20, 20, [member(1)]), { forOperator: true });
      assert.match(text, /npx relay bulk retry acme --status failed --reason PlatformError --since /);
      assert.match(text, /Show 20 chains in the console: http\S+\/companies\/acme\/chains\?status=failed&reason=PlatformError/);
    });

  it('links to the console if there is no link to the Web UI', () => {
    const { text } = rendered(many('failed', 1, 1, [member(1)]), { links: { api: 'http://127.0.0.1:8080' } });
    assert.match(text, /^ {2}Assignment 1, step 2: http:\/\/127\.0\.0\.1:8080\/companies\/acme\/chains\/c-1$/m);
  });

  it('has a link to decide without a key for each of the first held actions', () => {
    const holdLink = ({ companyId, chainId, index, at }: { companyId: string; chainId: string; index: number; at: string }) =>
      `https://relay.example/hold/${[companyId, chainId, index, Date.parse(at)].join('-')}`;
    const { text } = rendered(many('needs-attention', 214, 300, [member(2)]), { holdLink });
    const link = `https://relay.example/hold/acme-c-2-1-${Date.parse(since)}`;
    const title = 'Retry or skip 1 of 300 steps, without a sign-in';
    assert.ok(text.includes(`\n${title}:\n  Assignment 2, step 2: ${link}\n`), text);
    assert.equal(text.match(/Assignment 2, step 2/g)?.length, 1);
    assert.doesNotMatch(rendered(many('gave-up', 214, 300, [member(2)]), { holdLink }).text, /\/hold\//);
  });

  const through: ThroughNotice = {
    kind: 'through',
    cause,
    companyId: 'acme',
    relayId: '7',
    ended: { done: 3, cancelled: 1 },
    through: 2,
    open: 1,
    since,
    at: since,
  };

  it('is a recovery only if every action is done', () => {
    const { subject, text } = rendered({ ...through, ended: { done: 3 } });
    assert.equal(subject, '[relay] Recovered: 2 chains with the problem “the assignment does not exist” (Acme)');
    assert.match(text, /^2 chains with this problem have recovered$/m);
    assert.match(text, /^The problem was: “The assignment does not exist\.”$/m);
  });

  it('is no recovery if a send found no technician', () => {
    const { subject, text, json } = rendered({ ...through, ended: { done: 3 }, nobody: 1, open: 0 });
    assert.match(subject, /^\[relay\] Nothing left to decide: 2 chains/);
    assert.match(text, /^ {2}2 steps: done\n {2}1 step: found nobody$/m);
    assert.equal((json as { nobody?: number }).nobody, 1);
  });

  it('otherwise says that the actions are not held any more, with their states', () => {
    const { subject, text, json } = rendered(through);
    assert.equal(subject, '[relay] Nothing left to decide: 2 chains with the problem “the assignment does not exist” (Acme)');
    assert.match(text, /^2 chains with this problem no longer need attention$/m);
    assert.match(text, /^ {2}3 steps: done\n {2}1 step: cancelled\n {2}1 step: the relay does not know the state$/m);
    const { type, count, ended, open } = json as Record<string, unknown>;
    assert.deepEqual([type, count, ended, open], ['relay.recovered.many', 2, { done: 3, cancelled: 1 }, 1]);
  });
});
