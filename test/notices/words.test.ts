import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RejectedNotice, RuleNotice } from '../../src/contract/notices.js';
import { rejectionReasons } from '../../src/contract/problem.js';
import { renderNotice } from '../../src/notices/words.js';

const context = {
  companyName: 'Acme <b>',
  ruleName: 'Widen & alert',
  links: { api: 'https://relay.example' },
  namespace: 'default',
};
const rejected: RejectedNotice = {
  kind: 'rejected',
  companyId: 'acme',
  relayId: '4711',
  at: '2026-03-02T09:12:44.120Z',
  rejectedId: 'R1',
  reason: 'token-expired',
  mistakes: [{ pointer: '/0/relayAccessToken', detail: 'of rule 4711 was rotated,\nand its grace is over' }],
};
const missing: RuleNotice = {
  kind: 'missing-property',
  companyId: 'acme',
  relayId: '4711',
  at: '2026-03-02T09:12:44.120Z',
  chainId: 'C1',
  index: 2,
  assignmentId: '1001',
  path: 'location.zipp',
};

describe('a notice about a refused request', () => {
  for (const reason of rejectionReasons) {
    it(`says what was wrong, where, and what to do: ${reason}`, () => {
      const { subject, text } = renderNotice({ ...rejected, reason }, context);
      assert.match(subject, /^\[relay\] Refused: .+ \(Widen & alert\)$/);
      for (const part of [
        'Nothing of it has run',
        '/0/relayAccessToken of rule 4711 was rotated, and its grace is over',
        'Acme <b> (acme)',
        'Widen & alert (4711)',
        'Happened: 2026-03-02 09:12:44 UTC',
        'https://relay.example/companies/acme/refused/R1',
        'https://relay.example/co/acme/rejected/R1',
        'npx relay rejected list acme --url https://relay.example\n',
        /^(actions|recipients)-per-day|^open-chains/.test(reason) ? 'once a day' : 'once an hour',
      ])
        assert(text.includes(part), `${part} in ${text}`);
      const dead = ['token-expired', 'token-revoked', 'signature'].includes(reason);
      const resend = text.includes('npx relay rejected resend acme R1 --url https://relay.example\n');
      assert.equal(resend, !dead && reason !== 'invalid-chain');
      assert.equal(text.includes('npx relay rejected show acme R1 --url https://relay.example\n'), dead);
      assert.equal(/[Ss]omebody else has/.test(text), dead);
      assert(!dead || !/resend|send it again/.test(text), text);
      assert.doesNotMatch(text, /undefined/);
    });
  }

  it('names twenty mistakes and counts the rest', () => {
    const mistakes = Array.from({ length: 25 }, (_, n) => ({ pointer: `/${n}/x`, detail: 'is wrong' }));
    const { text } = renderNotice({ ...rejected, mistakes }, context);
    assert(text.includes('/19/x is wrong') && !text.includes('/20/x') && text.includes('and 5 more'));
  });

  it('escapes in HTML what is not its own, and links only the request', () => {
    const mistakes = [{ pointer: '/0/<script>', detail: 'Chain resource: https://evil.example"><img src=x>' }];
    const { html } = renderNotice({ ...rejected, mistakes }, context);
    assert(!html.includes('<script>') && !html.includes('<img') && !html.includes('<b>'));
    assert.deepEqual(html.match(/href="[^"]*"/g), [
      'href="https://relay.example/companies/acme/refused/R1"',
      'href="https://relay.example/co/acme/rejected/R1"',
    ]);
  });

  it('is data for a webhook', () => {
    const { json, subject } = renderNotice(rejected, context);
    assert.deepEqual(json, {
      type: 'relay.rejected',
      text: subject,
      company: { companyId: 'acme', name: 'Acme <b>' },
      rule: { relayId: '4711', name: 'Widen & alert' },
      ...rejected,
    });
  });
});

describe('a notice about a property that is not there', () => {
  it('says which, of what, and what that means', () => {
    const { subject, text } = renderNotice(missing, context);
    assert.equal(subject, '[relay] No such property: location.zipp (Widen & alert)');
    for (const part of [
      'location.zipp: no such property of assignment 1001, asked for by action 2',
      '/co/acme/chains/C1',
      'once a day',
    ])
      assert(text.includes(part), text);
  });
});
