import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RejectedNotice, RuleNotice } from '../../../src/contract/notices.js';
import { rejectionReasons } from '../../../src/contract/problem.js';
import { renderNotice } from '../../../src/notices/words.js';

const context = {
  companyName: 'Acme <b>',
  ruleName: 'Widen & alert',
  links: { api: 'https://relay.example' },
  timeZone: 'America/Chicago',
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
      const { subject, text } = renderNotice({ ...rejected, reason }, { ...context, forOperator: true });
      assert.match(subject, /^\[relay\] Refused: .+ \(Widen & alert\)$/);
      for (const part of [
        'Nothing has run',
        'Step 1: the token of rule 4711 was rotated, and its grace is over.',
        'Rule Widen & alert, Acme <b>',
        'Refused request R1, rule 4711, company acme',
        '\n2026-03-02 03:12:44 CST\n',
        '\nOpen the request: https://relay.example/companies/acme/refused/R1\n',
        'https://relay.example/co/acme/rejected/R1',
        'npx relay rejected list acme --url https://relay.example\n',
        /^(actions|recipients)-per-day|^open-chains/.test(reason) ? 'at most one notice a day' : 'at most one notice an hour',
      ])
        assert(text.includes(part), `${part} in ${text}`);
      const dead = ['token-expired', 'token-revoked', 'signature'].includes(reason);
      const isSafe = !dead && reason !== 'invalid-chain';
      assert.equal(text.includes('npx relay rejected resend acme R1 --url https://relay.example\n'), isSafe);
      assert.equal(text.includes('npx relay rejected show acme R1 --url https://relay.example\n'), !isSafe);
      assert.equal(/[Ss]omebody else has/.test(text), dead);
      assert(!dead || !/resend|send it again|send the request again/.test(text), text);
      assert.doesNotMatch(text, /undefined/);
      assert.doesNotMatch(renderNotice({ ...rejected, reason }, context).text, /npx|need a token/);
    });
  }

  it('about an unreadable body says where it breaks, how many such requests there were, and where to look', () => {
    const detail =
      'Line 1, column 205: the text of `body` has a quotation mark directly before `blue`; this mark ends the text too early.';
    const broken: RejectedNotice = {
      ...rejected,
      reason: 'malformed-body' as const,
      mistake: 'quotation-mark' as const,
      mistakes: [{ pointer: '', detail }],
    };
    const { text } = renderNotice({ ...broken, inADay: 12 }, { ...context, forOperator: true });
    for (const part of [
      `\n\nTechnical details (for the person who set up the webhook):\n  ${detail}\n`,
      '12 requests of this rule had this mistake within a day',
      'npx relay rejected show acme R1',
    ])
      assert(text.includes(part), text);
    assert(!text.includes('rejected resend'));
    const full = renderNotice({ ...broken, notKept: 7 }, context);
    assert.match(full.subject, /Refused and not kept/);
    assert.match(full.text, /could not keep 7 requests\. To make space, send stored requests again, or drop them/);
  });

  it('says what is wrong with a whole request or event, once and as a sentence', () => {
    for (const [pointer, detail, sentence] of [
      [
        '',
        'Company acme has sent more than 600 requests in a minute. Nothing has run.',
        '\n\nCompany acme has sent more than 600 requests in a minute.\nNothing has run.\n',
      ],
      ['', 'must be an object', '\n\nThe request must be an object.\n'],
      ['/actions/0/emails', 'is blank', '\n\nStep 1: “To” is blank.\n'],
      [
        '/variables/assignment_id',
        'is missing: the event has no value at id',
        '\n\nThe value “assignment id” is missing: the field “id” of the event is empty or does not exist.\n',
      ],
      ['/when', 'cannot be checked', '\n\nThe condition of the rule cannot be checked.\n'],
    ] as const) {
      const { text } = renderNotice({ ...rejected, reason: 'event-refused', mistakes: [{ pointer, detail }] }, context);
      assert(text.includes(sentence), text);
      assert.equal(text.split('Nothing has run').length, 2, text);
    }
  });

  it('names twenty mistakes, and gives the number of further mistakes', () => {
    const mistakes = Array.from({ length: 25 }, (_, n) => ({ pointer: `/${n}/x`, detail: 'is wrong' }));
    const { text } = renderNotice({ ...rejected, mistakes }, context);
    assert(text.includes('Step 20: “x” is wrong.') && !text.includes('Step 21') && text.includes('And 5 more mistakes.'));
  });

  it("escapes other people's texts in HTML, and has a link to the request only", () => {
    const mistakes = [{ pointer: '/0/<script>', detail: 'The chain in the API: https://evil.example"><img src=x>' }];
    const { html } = renderNotice({ ...rejected, mistakes }, context);
    assert(!html.includes('<script>') && !html.includes('<img') && !html.includes('<b>'));
    assert.deepEqual(html.match(/href="[^"]*"/g), ['href="https://relay.example/companies/acme/refused/R1"']);
  });

  it('is JSON data for a webhook', () => {
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

describe('a notice about a missing property', () => {
  it('says which property an assignment does not have, and the consequence', () => {
    const { subject, text } = renderNotice(missing, context);
    assert.equal(subject, '[relay] No such property: location.zipp (Widen & alert)');
    for (const part of [
      'The condition of step 3 uses location.zipp, but assignment 1001 has no such property',
      '/companies/acme/chains/C1',
      'once a day',
    ])
      assert(text.includes(part), text);
  });
});

describe('a notice about a quiet rule', () => {
  const since = '2026-03-02T09:12:44.120Z';
  const quiet: RuleNotice = {
    ...{ kind: 'quiet', companyId: 'acme', relayId: '4711', at: '2026-03-02T12:12:44.120Z', since },
    ...{ expectEvery: 3600, expectWithin: { from: '08:00' }, silentSeconds: 3 * 3600, usualEvery: 1200 },
  };
  it('says for how long no event has come, and what is usual', () => {
    const { subject, text, json } = renderNotice(quiet, context);
    assert.equal(subject, '[relay] No event for 3 h (Widen & alert)');
    assert.match(text, /\nNo event for 3 h\. Usually, an event comes every 20 min at this time of the week\. /);
    assert.match(text, /expects an event every 1 h\. Only the days and hours in the settings of the rule count\./);
    assert.match(text, /No event has come since the rule was published\.\nLast change of the rule: 2026-03-02 03:12:44 CST/);
    const earlier = renderNotice({ ...quiet, lastEvent: '2026-03-02T09:06:43.000Z' }, context).text;
    assert.match(earlier, /Last event: 2026-03-02 03:06:43 CST\nLast change of the rule: 2026-03-02 03:12:44 CST/);
    assert.doesNotMatch(renderNotice({ ...quiet, lastEvent: since }, context).text, /change of the rule/);
    assert.match(JSON.stringify(json), /^\{"type":"relay\.quiet",/);
  });
  it('says that events have returned', () => {
    const { subject, text, json } = renderNotice({ ...quiet, eventAt: '2026-03-02T13:00:00.000Z' }, context);
    assert.equal(subject, '[relay] Events come again (Widen & alert)');
    assert.match(text, /Next event: 2026-03-02 07:00:00 CST/);
    assert.doesNotMatch(text, /What to do/);
    assert.match(JSON.stringify(json), /^\{"type":"relay\.quiet\.over",/);
  });
});
