import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { platformKinds, type Setting, ticketingKinds } from '../../../src/chain/kinds.js';
import { companyPatch, companyRequest, companySchema, type StoredCompany } from '../../../src/contract/company.js';
import { type Merge, mapSecrets, mergePatch, redact, replaceKeepingSecrets } from '../../../src/contract/secrets.js';

const settings = {
  name: 'Acme',
  timeZone: 'Europe/Berlin',
  notify: { emails: ['ops@example.com'], webhookUrl: 'https://hooks.example.com/T0/s3cret-1', webhookSecret: 's3cret-2' },
  platform: { kind: 'http' as const, baseUrl: 'https://p.example.com/v1', auth: { type: 'bearer' as const, token: 's3cret-3' } },
  ticketing: { kind: 'http', baseUrl: 'https://t.example.com', auth: { type: 'headers', headers: { 'X-Key': 's3cret-4' } } },
  mail: { from: 'Ada <ada@example.com>', smtpUrl: 'smtps://s3cret-5:s3cret-6@mail.example.com:465' },
  webhookSecret: 's3cret-7',
} satisfies Omit<StoredCompany, 'companyId' | 'createdAt' | 'updatedAt'>;
const times = { createdAt: '2026-07-01T12:00:00.000Z', updatedAt: '2026-07-01T12:00:00.000Z' };
const stored: StoredCompany = { companyId: 'acme', ...settings, ...times };
const basic = { ...settings.platform, auth: { type: 'basic', username: 'ada', password: 's3cret-8' } } as const;

describe('the schema of a patch', () => {
  for (const [section, valid] of [
    [{ platform: { secret: 'x' } }, true],
    [{ platform: { kind: 'workmarket', token: 'x' } }, true],
    [{ ticketing: { subdomain: 'acme' } }, true],
    [{ ticketing: { auth: { type: 'bearer', token: 't' } } }, true],
    [{ ticketing: null }, true],
    [{ ticketing: { subdomain: 'evil.example/' } }, false],
    [{ platform: { kind: 'zendesk' } }, false],
  ] as const)
    it(`${valid ? 'accepts' : 'refuses'} ${JSON.stringify(section)}`, () =>
      assert.equal(companyPatch.safeParse(section).success, valid));
});

describe('secrets', () => {
  it('are shown as masks', () => {
    assert.deepEqual(redact(companySchema, stored), {
      ...stored,
      notify: { ...settings.notify, webhookUrl: 'https://hooks.example.com/***', webhookSecret: '***' },
      platform: { ...settings.platform, auth: { type: 'bearer', token: '***' } },
      ticketing: { ...settings.ticketing, auth: { type: 'headers', headers: { 'X-Key': '***' } } },
      mail: { from: 'Ada <ada@example.com>', smtpUrl: 'smtps://***@mail.example.com:465' },
      webhookSecret: '***',
    });
    assert.deepEqual(redact(companySchema, { ...stored, platform: basic }).platform, {
      ...basic,
      auth: { type: 'basic', username: 'ada', password: '***' },
    });
  });

  it('are exactly the fields that are marked as secret', () => {
    const found: string[] = [];
    const mapped = mapSecrets(companySchema, stored, (text) => `${found.push(text)}`);
    const texts = JSON.stringify(stored).match(/"[^"]*s3cret[^"]*"/g);
    assert.deepEqual(
      found.map((text) => JSON.stringify(text)),
      texts,
    );
    assert.doesNotMatch(JSON.stringify(mapped), /s3cret/);
    assert.deepEqual(
      { ...mapped, notify: 0, platform: 0, ticketing: 0, mail: 0, webhookSecret: 0 },
      { ...stored, notify: 0, platform: 0, ticketing: 0, mail: 0, webhookSecret: 0 },
    );
  });

  const name = settings.name;
  /** `changed`: the sections that differ from the stored ones; undefined: removed. */
  const cases: { title: string; merge: Merge; given: object; changed?: object; problem?: string }[] = [
    {
      title: 'PUT keeps exactly the sections with secrets',
      merge: replaceKeepingSecrets,
      given: { name },
      changed: { timeZone: undefined },
    },
    { title: 'PATCH keeps everything', merge: mergePatch, given: {} },
    {
      title: 'PATCH removes with null',
      merge: mergePatch,
      given: { mail: null, timeZone: null },
      changed: { mail: undefined, timeZone: undefined },
    },
    {
      title: 'PATCH leaves a null for a required value to the schema',
      merge: mergePatch,
      given: { name: null },
      changed: { name: null },
    },
    {
      title: 'PUT replaces a section except its secrets',
      merge: replaceKeepingSecrets,
      given: { ...settings, notify: {}, mail: {} },
      changed: {
        notify: { webhookUrl: settings.notify.webhookUrl, webhookSecret: 's3cret-2' },
        mail: { smtpUrl: settings.mail.smtpUrl },
      },
    },
    {
      title: 'PATCH merges a section',
      merge: mergePatch,
      given: { notify: { webhookFormat: 'slack', webhookSecret: null } },
      changed: { notify: { emails: ['ops@example.com'], webhookUrl: settings.notify.webhookUrl, webhookFormat: 'slack' } },
    },
    {
      title: 'PATCH replaces a list',
      merge: mergePatch,
      given: { notify: { emails: [] } },
      changed: { notify: { ...settings.notify, emails: [] } },
    },
    {
      title: 'PATCH keeps a token on the same host',
      merge: mergePatch,
      given: { platform: { baseUrl: 'https://p.example.com/v2' } },
      changed: { platform: { ...settings.platform, baseUrl: 'https://p.example.com/v2' } },
    },
    {
      title: 'PATCH changes a token alone',
      merge: mergePatch,
      given: { platform: { auth: { token: 'new' } } },
      changed: { platform: { ...settings.platform, auth: { type: 'bearer', token: 'new' } } },
    },
    {
      title: 'PATCH to another auth type keeps nothing of the old one',
      merge: mergePatch,
      given: { platform: { auth: { type: 'basic', username: 'ada' } } },
      changed: { platform: { ...settings.platform, auth: { type: 'basic', username: 'ada' } } },
    },
    ...[mergePatch, replaceKeepingSecrets].flatMap((merge) => {
      const which = merge === mergePatch ? 'PATCH' : 'PUT';
      const whole = merge === mergePatch ? {} : settings;
      const elsewhere = { kind: 'http', baseUrl: 'https://q.example.com' };
      return [
        { title: `${which} keeps what was shown`, merge, given: { ...whole, ...redact(companyRequest, settings as never) } },
        {
          title: `${which} takes no secret along to another host`,
          merge,
          given: { ...whole, platform: elsewhere },
          changed: { platform: { ...elsewhere, auth: settings.platform.auth } },
          problem: '/platform/auth',
        },
        {
          title: `${which} takes no header along to another host`,
          merge,
          given: { ...whole, ticketing: { ...elsewhere, auth: { type: 'headers', headers: { 'x-key': '***' } } } },
          changed: { ticketing: { ...elsewhere, auth: { type: 'headers', headers: { 'x-key': 's3cret-4' } } } },
          problem: '/ticketing/auth',
        },
        {
          title: `${which} to another host without auth`,
          merge,
          given: { ...whole, platform: { ...elsewhere, auth: null } },
          changed: { platform: elsewhere },
        },
        {
          title: `${which} refuses a hidden address of another`,
          merge,
          given: { ...whole, notify: { ...settings.notify, webhookUrl: 'https://evil.example.com/***' } },
          changed: { notify: { ...settings.notify, webhookUrl: 'https://evil.example.com/***' } },
          problem: '/notify/webhookUrl',
        },
        {
          title: `${which} changes headers one by one, in either case`,
          merge,
          given: {
            ...whole,
            ticketing: { ...settings.ticketing, auth: { type: 'headers', headers: { 'x-key': null, A: 'b' } } },
          },
          changed: { ticketing: { ...settings.ticketing, auth: { type: 'headers', headers: { A: 'b' } } } },
        },
        {
          title: `${which} leaves unknown fields to the schema`,
          merge,
          given: { ...whole, constructor: 1 },
          changed: { constructor: 1 },
        },
      ];
    }),
  ];
  describe('of a vendor', () => {
    const zendesk = { kind: 'zendesk', subdomain: 'acme', email: 'a@acme.example', token: 's3cret' };
    const jira = { kind: 'jira', site: 'acme', email: 'a@acme.example' };
    for (const merge of [mergePatch, replaceKeepingSecrets])
      for (const [what, given, token] of [
        ['are not carried over to another kind', jira, undefined],
        ['are not carried over to another kind by a mask', { ...jira, token: '***' }, undefined],
        ['are not carried over to the kind http', { kind: 'http', baseUrl: 'https://x.example' }, undefined],
        ['stay with a new user', { ...zendesk, email: 'b@acme.example', token: '***' }, 's3cret'],
        ['are not carried over to another subdomain', { ...zendesk, subdomain: 'evil', token: '***' }, 'refused'],
        ['are not carried over to a base URL', { ...zendesk, token: '***', baseUrl: 'https://evil.example' }, 'refused'],
      ] as const)
        it(`${what} (${merge === mergePatch ? 'PATCH' : 'PUT'})`, () => {
          const { value, problems } = merge(companyRequest, { name, ticketing: given }, { ...stored, ticketing: zendesk });
          const { ticketing } = value as { ticketing: { token?: string } };
          const read = companyRequest.shape.ticketing.safeParse(ticketing);
          if (token === 'refused')
            return assert.deepEqual(
              problems.map(({ pointer }) => pointer),
              ['/ticketing/token'],
            );
          assert.deepEqual([problems, ticketing.token], [[], token]);
          assert.equal(read.success, token !== undefined || given.kind === 'http');
        });

    it('stay stored after a partial change; after a change of the kind, no old setting stays', () => {
      const change = (ticketing: object) => mergePatch(companyRequest, { ticketing }, { ...stored, ticketing: zendesk }).value;
      assert.deepEqual((change({ email: 'b@acme.example' }) as StoredCompany).ticketing, { ...zendesk, email: 'b@acme.example' });
      assert.deepEqual((change({ kind: 'jira', token: 'new' }) as StoredCompany).ticketing, { kind: 'jira', token: 'new' });
    });

    it('go only to hosts that are compared: no other setting with a pattern (company, table) is a part of a host', () => {
      const named = Object.values({ ...platformKinds, ...ticketingKinds }).flatMap(({ settings }) =>
        Object.entries<Setting>(settings).flatMap(([field, { pattern }]) => (pattern ? field : [])),
      );
      assert.deepEqual([...new Set(named)].sort(), ['company', 'instance', 'site', 'subdomain', 'table']);
    });
  });

  for (const { title, merge, given, changed, problem } of cases) {
    it(title, () => {
      const { value, problems } = merge(companyRequest, given, stored);
      const { companyId, createdAt, updatedAt, ...before } = stored;
      const expected = Object.entries({ ...before, ...changed }).filter(([, section]) => section !== undefined);
      assert.deepEqual(value, Object.fromEntries(expected));
      assert.deepEqual(
        problems.map(({ pointer }) => pointer),
        problem === undefined ? [] : [problem],
      );
    });
  }
});
