import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { mailsToAddress } from '../../../src/api/sign-in.js';
import { createConnectors } from '../../../src/connectors/connectors.js';
import { createOpenId } from '../../../src/connectors/openid.js';
import type { Role } from '../../../src/contract/credential.js';
import { Keyring } from '../../../src/contract/encryption.js';
import { startMailCatcher } from '../../../src/sandbox/mail/catcher.js';
import { readConfig } from '../../../src/service/config.js';
import { PlainBrowser } from '../../api/browser-of-person.js';
import { clientId, clientSecret, startOpenIdProvider } from '../../api/openid-provider.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

const secret = 'the secret of this service: long enough';
const keyring = new Keyring(`k:${Buffer.alloc(32, 1).toString('base64')}`);
type Api = Awaited<ReturnType<typeof wholeApi>>;

async function companies(api: Api): Promise<void> {
  for (const companyId of ['acme', 'other'])
    await api.ask('PUT', `/admin/companies/${companyId}`, adminToken, {
      name: companyId.toUpperCase(),
      notify: { emails: ['a@b.example'] },
    });
}
const add = (api: Api, companyId: string, email: string, role: Role = 'steer') =>
  api.ask('PUT', `/admin/companies/${companyId}/people`, adminToken, { email, role });
const listed = async (api: Api, companyId = 'acme') =>
  (await api.ask('GET', `/admin/companies/${companyId}/people`, adminToken)).json.people as Record<string, string>[];

describe('a person who signs in by mail', () => {
  let api: Api;
  let mail: Awaited<ReturnType<typeof startMailCatcher>>;
  let person = { email: '', personId: '' };
  before(async () => {
    mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
    const connectors = createConnectors({
      allowPrivateNetworks: false,
      smtpUrl: mail.smtpUrl,
      mailFrom: 'Relay <relay@relay.example>',
    });
    after(() => connectors.close());
    api = await wholeApi({ connectors, secret, keyring });
    await companies(api);
  });
  after(() => Promise.all([api.close(), mail.close()]));
  beforeEach(async () => {
    const email = `ada-${performance.now()}@acme.example`;
    person = (await add(api, 'acme', email)).json;
  });

  const browser = () => new PlainBrowser(api.url);
  const isSignIn = ({ Subject }: { Subject: string }) => Subject === 'Sign in to the relay';
  /** The links that were mailed to the person, the newest first. */
  async function links(count = 1, email = person.email): Promise<string[]> {
    return eventually(`${count} mails`, async () => {
      const found = await (await fetch(`${mail.uiUrl}/api/v1/search?query=${encodeURIComponent(`to:"${email}"`)}`)).json();
      const messages = (found as { messages: { ID: string; Subject: string }[] }).messages.filter(isSignIn);
      if (messages.length < count) return new Unmet(messages.length);
      const texts = messages.map(
        async ({ ID }) => (await (await fetch(`${mail.uiUrl}/api/v1/message/${ID}`)).json()) as { Text: string },
      );
      return (await Promise.all(texts)).map(
        ({ Text }) => /http:\/\/127\.0\.0\.1(\/sign-in\/link\/[\w-]{43})/.exec(Text)?.[1] ?? Text,
      );
    });
  }
  async function asked(form: Record<string, string> = {}, email = person.email) {
    const ada = browser();
    const answer = await ada.post('/sign-in/mail', { email, ...form });
    assert.equal(answer.status, 200, await answer.text());
    const [link = ''] = await links(1, email);
    return { ada, link };
  }
  const signedIn = async () => {
    const { ada, link } = await asked();
    assert.equal((await ada.post(link, { personId: person.personId })).status, 303);
    return ada;
  };

  it('gets a mail when somebody adds the address, and the answer says whether the mail was sent', async () => {
    const email = `new-${performance.now()}@acme.example`;
    const added = await add(api, 'acme', email, 'steer');
    assert.deepEqual([added.status, added.json.invited], [201, true]);
    assert.deepEqual((await add(api, 'acme', email, 'read')).json.invited, undefined, 'a change sends no mail');
    type Mail = { ID: string; Subject: string; Text: string };
    const read = async (path: string) => (await fetch(`${mail.uiUrl}/api/v1/${path}`)).json();
    const { messages } = (await read(`search?query=${encodeURIComponent(`to:"${email}"`)}`)) as { messages: Mail[] };
    const [sent, another] = messages;
    assert.deepEqual([sent?.Subject, another], ['You can now sign in to the relay of ACME', undefined]);
    const { Text } = (await read(`message/${sent?.ID}`)) as Mail;
    assert.match(Text, /added by: admin\.\n\nYour role is dispatcher: retries, edits, skips/);
    assert.match(Text, /http:\/\/127\.0\.0\.1\/sign-in(?!\/)/);
  });

  it('opens the link, presses the button, and is signed in under the name and role that the company lists', async () => {
    const { ada, link } = await asked({ to: '/companies/acme/chains?status=failed' }, person.email.toUpperCase());
    for (let n = 0; n < 2; n += 1) {
      const opened = await ada.get(link);
      assert.equal(opened.status, 200, 'a mail scanner may open the link, too');
      assert.match(opened.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'; .*form-action 'self'/);
      assert.match(await opened.text(), /Sign in to ACME/);
    }
    assert.equal(await ada.session(), undefined, 'opening signs nobody in');
    const entered = await ada.post(link, { personId: person.personId });
    assert.deepEqual([entered.status, entered.headers.get('Location')], [303, '/companies/acme/chains?status=failed']);
    const name = person.email.split('@')[0];
    assert.deepEqual(await ada.session(), { kind: 'person', name, companyId: 'acme', role: 'steer' });
    assert.equal((await ada.get('/co/acme/rejected')).status, 200);
    assert.equal((await ada.get('/co/other/rejected')).status, 401);
    assert.equal((await ada.get('/admin/companies')).status, 401);
    const forbidden = await ada.get('/admin/companies/acme/people');
    assert.equal(forbidden.status, 403);
    assert.match(await forbidden.text(), /has the role steer: this request needs the role manage/);
    assert.match((await listed(api)).find(({ personId }) => personId === person.personId)?.lastUsedAt ?? '', /^20/);
  });

  it('is named in the audit log, and has the role that the company lists now', async () => {
    const ada = await signedIn();
    assert.equal((await add(api, 'acme', person.email, 'manage')).status, 200, 'the same person');
    const json = { 'Content-Type': 'application/json' };
    const made = await fetch(`${api.url}/admin/companies/acme/keys`, {
      method: 'POST',
      headers: { ...json, Cookie: [...ada.cookies].map((pair) => pair.join('=')).join('; '), 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ name: `key ${performance.now()}`, role: 'read' }),
    });
    assert.equal(made.status, 201);
    const { entries } = (await api.ask('GET', '/admin/companies/acme/audit', adminToken)).json;
    const name = person.email.split('@')[0];
    assert.deepEqual(
      [entries[0].action, entries[0].actor],
      ['key.create', { kind: 'person', personId: person.personId, name, role: 'manage' }],
    );
    assert.deepEqual([entries[1].action, entries[1].details.email], ['person.update', person.email]);
  });

  it('cannot use the link in another browser, twice, after ten minutes, from another site, or for another person', async () => {
    const { ada, link } = await asked();
    const other = browser();
    const elsewhere = [await other.get(link), await other.post(link, { personId: person.personId })];
    await other.post('/sign-in/mail', { email: 'nobody@acme.example' });
    elsewhere.push(await other.get(link), await other.post(link, { personId: person.personId }));
    for (const refused of elsewhere) assert.deepEqual([refused.status, await other.session()], [401, undefined]);
    assert.match((await (await other.get(link)).text()) ?? '', /requested in another browser/);

    assert.equal((await ada.ask('POST', link, { personId: person.personId }, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
    const [mallory] = [(await add(api, 'other', 'mallory@other.example', 'manage')).json];
    assert.equal((await ada.post(link, { personId: mallory.personId })).status, 401, 'not the person of the link');
    assert.equal((await ada.post(link)).status, 401);

    const raced = await Promise.all([1, 2, 3].map(() => ada.post(link, { personId: person.personId })));
    assert.deepEqual(raced.map(({ status }) => status).sort(), [303, 401, 401]);
    assert.equal((await ada.get(link)).status, 401);

    await ada.post('/sign-in/mail', { email: person.email });
    const [second = ''] = await links(2);
    await api.database.query("UPDATE sign_ins SET expires_at = expires_at - interval '10 minutes'");
    assert.deepEqual(
      [(await ada.get(second)).status, (await ada.post(second, { personId: person.personId })).status],
      [401, 401],
    );
  });

  it('gets the same answer as a stranger; the answer does not wait for the look-up of the address', async () => {
    const { people } = api.store;
    const { withAddress } = people;
    people.withAddress = () => new Promise(() => {});
    const answers = [];
    for (const email of [person.email, 'nobody@nowhere.example']) {
      const answer = await browser().post('/sign-in/mail', { email });
      const headers = [...answer.headers].filter(([name]) => !/date|content-length/.test(name));
      answers.push([
        answer.status,
        (await answer.text()).replace(email, ''),
        JSON.stringify(headers).replace(/relay-browser=[\w-]{43}/, ''),
      ]);
    }
    people.withAddress = withAddress;
    assert.deepEqual(answers[0], answers[1]);
    const [, , headers = ''] = answers[0] ?? [];
    assert.match(String(headers), /HttpOnly; SameSite=Lax/);
    // When this mail has arrived, all earlier mails have arrived, too.
    await browser().post('/sign-in/mail', { email: 'nobody@nowhere.example' });
    await asked();
    const all = (await (await fetch(`${mail.uiUrl}/api/v1/search?query=nowhere.example`)).json()) as { messages: unknown[] };
    assert.deepEqual(all.messages, []);
  });

  it('gets few mails, whether the address is known or not', async () => {
    for (const email of [person.email, `nobody-${performance.now()}@acme.example`]) {
      for (let n = 0; n < mailsToAddress; n += 1) assert.equal((await browser().post('/sign-in/mail', { email })).status, 200);
      const refused = await browser().post('/sign-in/mail', { email });
      assert.equal(refused.status, 429);
      assert.match(refused.headers.get('Content-Type') ?? '', /html/);
      assert.match(await refused.text(), /too many attempts to sign in.*Try again in \d+ seconds/s);
    }
  });

  it('of two companies chooses one; the other company needs a new link', async () => {
    const { personId } = (await add(api, 'other', person.email, 'read')).json;
    const { ada, link } = await asked();
    assert.match(await (await ada.get(link)).text(), /Sign in to ACME.*Sign in to OTHER/s);
    assert.equal((await ada.post(link, { personId })).status, 303);
    assert.deepEqual([(await ada.session())?.companyId, (await ada.session())?.role], ['other', 'read']);
    assert.deepEqual([(await ada.get('/co/other')).status, (await ada.get('/co/acme')).status], [200, 401]);
    assert.equal((await ada.post(link, { personId: person.personId })).status, 401, 'the link is used');
  });

  it('who is removed loses sessions, links and event streams at once', async () => {
    const ada = await signedIn();
    await ada.post('/sign-in/mail', { email: person.email });
    const [, ...more] = [...(await links(2))].reverse();
    const stop = new AbortController();
    const watch = async (headers: Record<string, string>) => {
      const response = await fetch(`${api.url}/co/acme/events?path=/co/acme`, { headers, signal: stop.signal });
      const stream = { text: '', ended: Promise.resolve() };
      const read = async () => {
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>)
          stream.text += Buffer.from(chunk).toString();
      };
      stream.ended = read().catch(() => {});
      await eventually('the first answer', async () => stream.text.includes('event: answer') || new Unmet(stream.text));
      return stream;
    };
    const removed = await watch({ Cookie: [...ada.cookies].map((pair) => pair.join('=')).join('; ') });
    const kept = await watch({ Authorization: `Bearer ${adminToken}` });
    const at = `/admin/companies/acme/people/${person.personId}`;
    assert.equal((await api.ask('DELETE', at, adminToken)).status, 204);
    assert.equal(await ada.session(), undefined);
    assert.equal((await ada.get('/co/acme')).status, 401);
    for (const link of more) assert.equal((await ada.get(link)).status, 401);
    await api.ask('PUT', '/admin/companies/acme/pause', adminToken, { what: 'mail' });
    await removed.ended;
    assert.doesNotMatch(removed.text, /"what":"mail"/, 'what happened after the removal');
    await eventually('the change', async () => kept.text.includes('"what":"mail"') || new Unmet(kept.text));
    stop.abort();
    assert.equal((await api.ask('DELETE', at, adminToken)).status, 404);
  });

  it('is stored with an encrypted address, which managers can list, and with a hash that needs the secret', async () => {
    const stored = JSON.stringify(await database('people', 'person_handles', 'audit', 'sign_ins'));
    assert.doesNotMatch(stored, /@acme\.example/);
    assert((await listed(api)).some(({ email }) => email === person.email));
    const log = JSON.stringify(api.logged());
    assert.doesNotMatch(log, /@acme\.example|sign-in\/link\/[\w-]{20}/);
  });
  const database = async (...tables: string[]) =>
    Promise.all(tables.map((table) => api.database.query(`SELECT ${table}::text AS row FROM ${table}`)));

  it('cannot sign in if the operator has no mail server', async () => {
    const without = await wholeApi();
    try {
      const page = await (await fetch(`${without.url}/sign-in`)).text();
      assert.doesNotMatch(page, /E-mail address|openid/);
      const refused = await new PlainBrowser(without.url).post('/sign-in/mail', { email: 'ada@acme.example' });
      assert.equal(refused.status, 404);
    } finally {
      await without.close();
    }
    const page = await (await browser().get('/sign-in')).text();
    assert.match(page, /E-mail address.*name="email".*Admin token or company key/s);
  });
});

describe('a person who signs in with OpenID Connect', () => {
  let api: Api;
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
  let n = 0;
  before(async () => {
    provider = await startOpenIdProvider();
    const openId = createOpenId(
      readConfig({
        RELAY_OIDC_ISSUER: provider.issuer,
        RELAY_OIDC_CLIENT_ID: clientId,
        RELAY_OIDC_CLIENT_SECRET: clientSecret,
        RELAY_OIDC_DOMAINS: 'acme.example, sub.acme.example',
        RELAY_OIDC_GROUPS: JSON.stringify({
          leads: { companyId: 'acme', role: 'author' },
          staff: { companyId: 'acme', role: 'read' },
          guests: { companyId: 'other', role: 'read' },
          ghosts: { companyId: 'missing', role: 'manage' },
        }),
      }),
      'http://127.0.0.1',
    );
    api = await wholeApi({ secret, keyring, ...(openId && { openId }) });
    await companies(api);
  });
  after(() => Promise.all([api.close(), provider.close()]));
  beforeEach(() => {
    n += 1;
    Object.assign(provider.state, { account: account(), tampering: {}, inUserinfo: false });
  });

  const account = (more: object = {}) => ({
    sub: `sub-${n}`,
    email: `ada-${n}@acme.example`,
    email_verified: true,
    name: 'Ada',
    ...more,
  });
  /**
   * Opens the provider's page, signs in there, and follows the way back. @returns the path of the relay to which the provider
   * leads
   */
  async function toProvider(browser: PlainBrowser, to = ''): Promise<string> {
    const begun = await browser.get(`/sign-in/openid${to && `?to=${encodeURIComponent(to)}`}`);
    assert.equal(begun.status, 302, await begun.text());
    const target = new URL(begun.headers.get('Location') ?? '');
    const { searchParams } = target;
    assert.equal(searchParams.get('redirect_uri'), 'http://127.0.0.1/sign-in/openid/callback');
    assert.deepEqual([searchParams.get('code_challenge_method'), searchParams.get('scope')], ['S256', 'openid email profile']);
    const back = new URL((await fetch(target, { redirect: 'manual' })).headers.get('Location') ?? '');
    return back.pathname + back.search;
  }
  async function signIn(to = '') {
    const browser = new PlainBrowser(api.url);
    const answer = await browser.get(await toProvider(browser, to));
    return { browser, answer, text: await answer.text(), session: await browser.session() };
  }

  it('is found by the verified address the first time, and later by issuer and subject', async () => {
    const { personId } = (await add(api, 'acme', `ada-${n}@acme.example`, 'manage')).json;
    assert.match(await (await fetch(`${api.url}/sign-in`)).text(), /href="\/sign-in\/openid">Sign in with 127\.0\.0\.1/);
    const first = await signIn('/companies/acme/rules');
    assert.deepEqual([first.answer.status, first.answer.headers.get('Location')], [303, '/companies/acme/rules']);
    assert.deepEqual(first.session, { kind: 'person', name: `ada-${n}`, companyId: 'acme', role: 'manage' });

    provider.state.account = account({ email: `ada-is-now-${n}@acme.example` });
    assert.equal((await signIn()).session?.role, 'manage', 'the same account with another address');
    provider.state.account = account({ sub: `another-${n}` });
    const reassigned = await signIn();
    assert.deepEqual([reassigned.answer.status, reassigned.session], [403, undefined], 'the address of another account');

    const bound = (await listed(api)).find((person) => person.personId === personId);
    assert.deepEqual([bound?.issuer, bound?.email], [provider.issuer, `ada-${n}@acme.example`]);
    const { entries } = (await api.ask('GET', '/admin/companies/acme/audit', adminToken)).json;
    assert.deepEqual([entries[0].action, entries[0].actor.personId], ['person.bind', personId]);
  });

  it('may have an address only in the answer of userinfo', async () => {
    await add(api, 'acme', `ada-${n}@acme.example`);
    // This client reads the changed description of the provider. The API still has the old one.
    provider.state.inUserinfo = true;
    const config = { RELAY_OIDC_ISSUER: provider.issuer, RELAY_OIDC_CLIENT_ID: clientId, RELAY_OIDC_CLIENT_SECRET: clientSecret };
    const openId = createOpenId(readConfig(config), 'http://127.0.0.1');
    const [secret, state] = ['b'.repeat(43), 's'.repeat(43)];
    const target = await openId?.begin(secret, state);
    const back = new URL((await fetch(target ?? '', { redirect: 'manual' })).headers.get('Location') ?? '');
    const identity = await openId?.finish(back.search, secret, state);
    assert(identity && 'email' in identity);
    assert.equal(identity.email, `ada-${n}@acme.example`);
  });

  it('has the highest role of all their groups, and loses the role with the group', async () => {
    const expect = async (groups: string[], role?: Role, status = 303) => {
      provider.state.account = account({ groups });
      const { answer, session } = await signIn();
      assert.deepEqual([answer.status, session?.role, session?.companyId], [status, role, role && 'acme'], groups.join());
    };
    await expect(['unknown', 'ghosts'], undefined, 403);
    await expect(['staff'], 'read');
    await expect(['staff', 'leads'], 'author');
    const person = (await listed(api)).find(({ email }) => email === `ada-${n}@acme.example`);
    assert.deepEqual([person?.fromGroup, person?.name], ['leads', 'Ada']);
    const last = await signIn();
    await expect([], undefined, 403);
    assert.equal(await last.browser.session(), undefined, 'removed from the groups');
    assert((await listed(api)).every(({ email }) => email !== `ada-${n}@acme.example`));
  });

  it('of two companies chooses one', async () => {
    await add(api, 'acme', `ada-${n}@acme.example`);
    provider.state.account = account({ groups: ['guests'] });
    const { browser, answer, session } = await signIn('/companies/other/chains');
    const link = answer.headers.get('Location') ?? '';
    assert.deepEqual([answer.status, session], [303, undefined]);
    const page = await (await browser.get(link)).text();
    const [, personId = ''] = /value="(\w+)">Sign in to OTHER/.exec(page) ?? [];
    assert.equal((await new PlainBrowser(api.url).post(link, { personId })).status, 401, 'another browser');
    const entered = await browser.post(link, { personId });
    assert.deepEqual(
      [entered.headers.get('Location'), (await browser.session())?.companyId],
      ['/companies/other/chains', 'other'],
    );
  });

  it('is refused if a claim is not verified, not signed for this sign-in, or of a foreign domain', async () => {
    await add(api, 'acme', `ada-${n}@acme.example`, 'manage');
    await add(api, 'acme', `ada-${n}@evil.example`, 'manage');
    const attacks: [name: string, status: number, account: object, tampering?: typeof provider.state.tampering][] = [
      ['an unverified address', 403, { email_verified: false }],
      ['an address without a word about it', 403, { email_verified: undefined }],
      ['"true" as text', 403, { email_verified: 'true' }],
      ['no address', 403, { email: undefined }],
      ['a foreign domain', 403, { email: `ada-${n}@evil.example` }],
      ['a foreign domain with a group', 403, { email: 'x@evil.example', groups: ['leads'] }],
      ['a domain below', 403, { email: `ada-${n}@x.acme.example` }],
      ['two addresses in one', 403, { email: `x@evil.example,ada-${n}@acme.example` }],
      ['another issuer', 401, {}, { claims: { iss: 'https://evil.example' } }],
      ['another nonce', 401, {}, { claims: { nonce: 'another' } }],
      ['no nonce', 401, {}, { claims: { nonce: undefined } }],
      ['another client', 401, {}, { claims: { aud: 'another-client' } }],
      ['an expired token', 401, {}, { claims: { exp: 1 } }],
      ['a key that is not published', 401, {}, { key: 'unpublished' }],
    ];
    for (const [name, status, more, tampering = {}] of attacks) {
      Object.assign(provider.state, { account: account(more), tampering });
      const { answer, text, session } = await signIn();
      assert.deepEqual([answer.status, session], [status, undefined], `${name}: ${text}`);
    }
    assert(
      (await listed(api)).every(({ issuer, email }) => issuer === undefined || !email?.includes(`ada-${n}@`)),
      'nobody is bound',
    );
  });

  it('completes a sign-in once, and only in the browser where it began', async () => {
    await add(api, 'acme', `ada-${n}@acme.example`);
    provider.state.tampering = { again: true };
    const [ada, mallory] = [new PlainBrowser(api.url), new PlainBrowser(api.url)];
    const back = await toProvider(ada);
    const foreign = await toProvider(mallory);
    assert.equal((await mallory.get(back)).status, 401, 'another browser');
    assert.equal((await ada.get(foreign)).status, 401, "another person's sign-in");
    assert.equal((await ada.get(back.replace(/state=[^&]+/, `state=${'x'.repeat(43)}`))).status, 401, 'another state');
    assert.equal((await ada.get(back.replace(/code=[^&]+/, 'error=access_denied'))).status, 401, 'the person refused');
    assert.equal((await ada.get(back)).status, 401, 'the state was used');
    const again = await toProvider(ada);
    assert.equal((await ada.get(again)).status, 303);
    await ada.post('/sign-out');
    assert.deepEqual([(await ada.get(again)).status, await ada.session()], [401, undefined], 'a replayed state');
  });
});
