/** The signatures of real senders (each as its vendor describes it), and forged signatures. */

import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { checkSignature, tokenOf } from '../../../src/api/event-authentication.js';
import { type EventSignature, signatureSchema } from '../../../src/contract/rule-event.js';

const body = '{"event":{"name":"workorder.status.published"},"note":"Größe ✓"}';
const secret = 'the secret of the sender';
const raw = randomBytes(24);
const hmac = (algorithm: string, key: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac(algorithm, key).update(text).digest(encoding);
const seconds = () => String(Math.floor(Date.now() / 1000));

type Settings = Record<string, unknown>;
/** Makes the headers of a request with this body, signed at this time. */
type Sign = (text: string, time: string) => Record<string, string>;

const standard: Sign = (text, time) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': time,
  'webhook-signature': `v1,AAAA v1a,x v1,${hmac('sha256', raw, `msg_1.${time}.${text}`, 'base64')}`,
});

const senders: [sender: string, settings: Settings, sign: Sign, time?: () => string][] = [
  ['Standard Webhooks', { scheme: 'standard-webhooks', key: `whsec_${raw.toString('base64')}` }, standard, seconds],
  ['Standard Webhooks, key without prefix', { scheme: 'standard-webhooks', key: raw.toString('base64') }, standard, seconds],
  [
    'Field Nation v3',
    { scheme: 'hmac', header: 'X-FN-Signature', prefix: 'sha256=', key: secret },
    (text) => ({ 'x-fn-signature': `sha256=${hmac('sha256', secret, text, 'hex')}` }),
  ],
  [
    'Autotask',
    { scheme: 'hmac', header: 'x-hook-signature', algorithm: 'sha1', encoding: 'base64', prefix: 'sha1=', key: secret },
    (text) => ({ 'X-Hook-Signature': `sha1=${hmac('sha1', secret, text, 'base64')}` }),
  ],
  [
    'Autotask, in hex',
    { scheme: 'hmac', header: 'x-hook-signature', algorithm: 'sha1', key: secret },
    (text) => ({ 'x-hook-signature': hmac('sha1', secret, text, 'hex').toUpperCase() }),
  ],
  [
    'ConnectWise',
    { scheme: 'hmac', header: 'x-content-signature', encoding: 'base64', key: secret, keyForm: 'sha256-of-text' },
    (text) => ({ 'x-content-signature': hmac('sha256', createHash('sha256').update(secret).digest(), text, 'base64') }),
  ],
  [
    'Zendesk',
    {
      ...{ scheme: 'hmac', header: 'x-zendesk-webhook-signature', encoding: 'base64', key: secret },
      ...{ signed: 'timestamp-body', timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp' },
    },
    (text, time) => ({
      'x-zendesk-webhook-signature': hmac('sha256', secret, time + text, 'base64'),
      'x-zendesk-webhook-signature-timestamp': time,
    }),
    () => new Date().toISOString(),
  ],
  [
    'Jira',
    { scheme: 'hmac', header: 'x-hub-signature', prefix: 'sha256=', key: secret },
    (text) => ({ 'X-Hub-Signature': `sha256=${hmac('sha256', secret, text, 'hex')}` }),
  ],
  [
    'Jobber',
    { scheme: 'hmac', header: 'x-jobber-hmac-sha256', encoding: 'base64', key: secret },
    (text) => ({ 'x-jobber-hmac-sha256': hmac('sha256', secret, text, 'base64') }),
  ],
  [
    'a sender with a dot behind the timestamp, and a key in hex',
    {
      ...{ scheme: 'hmac', header: 'x-signature', key: raw.toString('hex'), keyForm: 'hex' },
      ...{ signed: 'timestamp.body', timestampHeader: 'x-timestamp' },
    },
    (text, time) => ({ 'x-signature': hmac('sha256', raw, `${time}.${text}`, 'hex'), 'x-timestamp': time }),
    () => String(Date.now()),
  ],
  [
    'a sender with a key in base64',
    { scheme: 'hmac', header: 'x-signature', key: raw.toString('base64'), keyForm: 'base64' },
    (text) => ({ 'x-signature': hmac('sha256', raw, text, 'hex') }),
  ],
];

function check(settings: Settings, headers: Record<string, string>, text = body, whole = true) {
  const bytes = new TextEncoder().encode(text).buffer;
  return checkSignature(signatureSchema.parse(settings), new Headers(headers), { bytes, whole });
}

describe('a signature', () => {
  for (const [sender, settings, sign, time = () => ''] of senders) {
    it(`of ${sender} is right, and any change makes it wrong`, () => {
      const now = time();
      const headers = sign(body, now);
      assert.deepEqual(check(settings, headers), { isRight: true, mistake: undefined });
      const wrong: [what: string, ...Parameters<typeof check>][] = [
        ['another body', settings, headers, `${body} `],
        ['another key', { ...settings, key: randomBytes(24).toString('hex') }, headers],
        ['a body that was cut off', settings, headers, body, false],
        ['the signature of another body', settings, sign('{}', now)],
        ...Object.keys(headers).map((name) => [`no ${name}`, settings, { ...headers, [name]: '' }] as const),
        ...Object.entries(headers).map(
          ([name, value]) => [`another ${name}`, settings, { ...headers, [name]: `${value}0` }] as const,
        ),
        ...Object.entries(headers).map(
          ([name, value]) => [`half of ${name}`, settings, { ...headers, [name]: value.slice(0, 4) }] as const,
        ),
      ].map(([what, ...rest]) => [what, ...rest] as [string, ...Parameters<typeof check>]);
      for (const [what, ...given] of wrong) {
        const { isRight, mistake } = check(...given);
        assert.equal(isRight, false, what);
        assert.match(mistake ?? '', /^(has no |is not signed with)/, what);
      }
    });

    if (time() === '') continue;
    it(`of ${sender} with an old time, a future time or no time is a mistake, although it has the right key`, () => {
      const shown = (ms: number) => {
        if (sender === 'Zendesk') return new Date(ms).toISOString();
        return sender.startsWith('Standard') ? String(Math.floor(ms / 1000)) : String(ms);
      };
      for (const signed of [shown(Date.now() - 301_000), shown(Date.now() + 310_000), 'yesterday']) {
        const { isRight, mistake } = check(settings, sign(body, signed));
        assert.deepEqual(
          [isRight, mistake],
          [true, 'was signed more than 5 minutes ago, or the clock of the sender is wrong'],
          signed,
        );
      }
      assert.equal(check(settings, sign(body, shown(Date.now() - 280_000))).mistake, undefined);
    });
  }

  it('is never right with an empty key, because everybody knows this key', () => {
    const base = {
      scheme: 'hmac',
      header: 'x-signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: '',
      signed: 'body',
    } as const;
    const headers = new Headers({ 'x-signature': hmac('sha256', '', body, 'hex') });
    const received = { bytes: new TextEncoder().encode(body).buffer, whole: true };
    for (const keyForm of ['text', 'hex', 'base64'] as const) {
      const key = keyForm === 'text' ? '' : '!';
      const signature: EventSignature = { ...base, key, keyForm };
      assert.equal(checkSignature(signature, headers, received).isRight, false, keyForm);
      assert.equal(signatureSchema.safeParse(signature).success, false, keyForm);
    }
    const empty = { scheme: 'standard-webhooks', key: 'whsec_' } as const;
    const signed = hmac('sha256', '', `1.${seconds()}.${body}`, 'base64');
    const its = new Headers({ 'webhook-id': '1', 'webhook-timestamp': seconds(), 'webhook-signature': `v1,${signed}` });
    assert.equal(checkSignature(empty, its, received).isRight, false);
    assert.equal(signatureSchema.safeParse(empty).success, false);
  });

  it('is never right for a rule without signature settings', () => {
    const received = { bytes: new TextEncoder().encode(body).buffer, whole: true };
    const headers = new Headers({ 'x-signature': hmac('sha256', 'none', body, 'hex') });
    assert.equal(checkSignature(undefined, headers, received).isRight, false);
  });

  it('needs the header of its timestamp in its settings, and a key in the form that the settings name', () => {
    const base = { scheme: 'hmac', header: 'x-signature', key: secret };
    const cases: [Settings, string][] = [
      [{ signed: 'timestamp-body' }, 'timestampHeader'],
      [{ timestampHeader: 'x-time' }, 'timestampHeader'],
      [{ keyForm: 'hex' }, 'key'],
      [{ keyForm: 'base64' }, 'key'],
      [{ header: 'a header' }, 'header'],
    ];
    for (const [more, field] of cases) {
      const { error } = signatureSchema.safeParse({ ...base, ...more });
      assert.deepEqual(
        error?.issues.map(({ path }) => path.join('/')),
        [field],
        JSON.stringify(more),
      );
    }
  });
});

describe('the token of an event', () => {
  const both = new Headers({ authorization: 'Bearer of-a-proxy', 'x-relay-token': 'of-the-header' });
  const cases: [Headers, string | undefined, ReturnType<typeof tokenOf>][] = [
    [both, 'in-path', { token: 'in-path', inPath: true }],
    [both, undefined, { token: 'of-the-header', inPath: false }],
    [new Headers({ authorization: 'bearer  t ' }), undefined, { token: 't', inPath: false }],
    [new Headers({ authorization: 'Basic dDp0' }), undefined, { token: undefined, inPath: false }],
    [new Headers({ 'x-relay-token': 'x'.repeat(5000) }), undefined, { token: 'x'.repeat(513), inPath: false }],
  ];
  for (const [headers, path, found] of cases)
    it(`is found: ${JSON.stringify([...headers])}`.slice(0, 120), () => assert.deepEqual(tokenOf(headers, path), found));
});
