import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cause, ManyNotice, Member, ThroughNotice } from '../../src/contract/notices.js';
import { renderNotice } from '../../src/notices/words.js';

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
  it('says how many, why, until when, and one command that retries them', () => {
    const { subject, text } = rendered(many('needs-attention', 214, 300, [member(2), member(1)]));
    assert.equal(subject, '[relay] Needs attention: 214 chains, PlatformError (Acme)');
    assert.equal(
      text,
      `214 chains (300 actions) held, for the same reason.

What was wrong:
  POST /assignments/2/send answered 404: no assignment 2 (PlatformError)
  Ids and numbers differ from one to the other.

What happens now:
  Without a decision they fail, the first at 2026-07-04 12:00:01 UTC; what stands behind them is not run.

To put it right:
  Mend what was wrong, then retry them all (it counts first, and asks):
  npx relay bulk retry acme --reason PlatformError --since ${since}
  You are told once when all of them are through.
  So that others know that you see to it; or to hear of no further ones for a while:
  npx relay causes take acme c1
  npx relay causes silence acme c1 4h

The first 2:
  Assignment 2, action 1: http://127.0.0.1:8233/w/workflows/relay%3Aacme%3Ac-2/r-2/user-metadata
  Assignment 1, action 1: http://127.0.0.1:8233/w/workflows/relay%3Aacme%3Ac-1/r-1/user-metadata

Where:
  Company: Acme (acme)
  Happened: 2026-07-01 12:01:00 UTC
  Their page, with a key: http://127.0.0.1:8080/companies/acme/causes/c1
  All of them, with a token: http://127.0.0.1:8080/co/acme/chains?status=needs-attention&reason=PlatformError&since=2026-07-01T12%3A00%3A00.000Z
`,
    );
  });

  it('retries few by name, at the address of the API, and speaks of what is shown', () => {
    const { text, html } = rendered(many('needs-attention', 1, 1, [member(3)]), {
      links: { ...context.links, api: 'https://relay.example' },
    });
    assert.match(text, /^1 chain held, for the same reason\.\n\nWhat was wrong:\n {2}POST \/assignments\/3\/send[^\n]+\n\n/);
    assert.match(text, /^ {2}npx relay retry acme c-3 1 --url https:\/\/relay\.example$/m);
    assert.doesNotMatch(text, /bulk|all of them are through/);
    assert.match(html, /<a href="http:\/\/127\.0\.0\.1:8233\/w\/workflows\/relay%3Aacme%3Ac-3\/r-3\/user-metadata">/);
  });

  for (const kind of ['gave-up', 'failed'] as const)
    it(`that failed (${kind}): retries those that have closed`, () => {
      const { text } = rendered(many(kind, 20, 20, [member(1)]));
      assert.match(text, /npx relay bulk retry acme --status failed --reason PlatformError --since /);
      assert.match(text, /chains\?status=failed&reason=PlatformError/);
    });

  it('links to the API where there is no Web UI', () => {
    const { text } = rendered(many('failed', 1, 1, [member(1)]), { links: { api: 'http://127.0.0.1:8080' } });
    assert.match(text, /^ {2}Assignment 1, action 1: http:\/\/127\.0\.0\.1:8080\/co\/acme\/chains\/c-1$/m);
  });

  it('has a link for each of the first by which to decide without a key, where something is held', () => {
    const holdLink = ({ companyId, chainId, index, at }: { companyId: string; chainId: string; index: number; at: string }) =>
      `https://relay.example/hold/${[companyId, chainId, index, Date.parse(at)].join('-')}`;
    const { text } = rendered(many('needs-attention', 214, 300, [member(2)]), { holdLink });
    const link = `https://relay.example/hold/acme-c-2-1-${Date.parse(since)}`;
    assert.ok(text.includes(`\nRetry or skip one in a browser, without a key:\n  Assignment 2, action 1: ${link}\n`), text);
    assert.doesNotMatch(rendered(many('gave-up', 214, 300, [member(2)]), { holdLink }).text, /\/hold\//);
  });

  it('is one of recovery when they are through', () => {
    const notice: ThroughNotice = {
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
    const { subject, text, json } = rendered(notice);
    assert.equal(subject, '[relay] Recovered: 2 chains, PlatformError (Acme)');
    assert.match(text, /^2 chains that had failed for the same reason are through\.$/m);
    assert.match(text, /^ {2}done: 3\n {2}cancelled: 1\n {2}not known: 1$/m);
    const { type, count, ended, open } = json as Record<string, unknown>;
    assert.deepEqual([type, count, ended, open], ['relay.recovered.many', 2, { done: 3, cancelled: 1 }, 1]);
  });
});
