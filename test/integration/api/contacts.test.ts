/** The confirmation of contacts, and the page on which a contact confirms. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { failuresPerMinute } from '../../../src/api/limits.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';

describe('contacts', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  before(async () => {
    api = await wholeApi();
  });
  after(() => api.close());

  async function company(companyId: string) {
    const at = `/admin/companies/${companyId}`;
    const body = { name: 'Acme <b>', notify: { emails: ['a@x.org'] } };
    assert.equal((await api.ask('PUT', at, adminToken, body)).status, 201);
    const { key } = (await api.ask('POST', `${at}/keys`, adminToken, { name: 'dana', role: 'manage' })).json;
    return { at, key };
  }
  const post = (link: string, headers: Record<string, string>) =>
    fetch(`${api.url}/confirm/${link}`, { method: 'POST', headers, redirect: 'manual' });

  it("of a key are unconfirmed until somebody sends the page's form; opening the page confirms nothing", async () => {
    const { at, key } = await company('acme');
    const notify = { emails: ['a@x.org', 'b@x.org'], webhookUrl: 'https://chat.example/secret' };
    assert.equal((await api.ask('PATCH', at, key, { notify })).status, 200);
    const listed = async (): Promise<[string, boolean][]> => {
      const { json } = await api.ask('GET', `${at}/contacts`, key);
      return json.contacts.map(({ contact, confirmed }: { contact: string; confirmed: boolean }) => [contact, confirmed]);
    };
    const [a, b, webhook] = await listed();
    assert.deepEqual([a, b, webhook?.[1]], [['a@x.org', true], ['b@x.org', false], false]);
    assert.doesNotMatch(webhook?.[0] ?? '', /secret/);
    const { contactId = '' } = (await api.store.contacts.unconfirmed('acme')).find(({ contact }) => contact === 'b@x.org') ?? {};

    for (let looks = 0; looks < 2; looks += 1) {
      const { status, text } = await api.ask('GET', `/confirm/${contactId}`);
      assert.equal(status, 200);
      assert.match(text, /Acme &lt;b&gt; wants to send notices to <strong>b@x\.org<\/strong>.*<form method="post">/s);
    }
    assert.equal((await post(contactId, { Origin: 'https://evil.example' })).status, 403);
    assert.equal((await post(contactId, {})).status, 403);
    assert.deepEqual(await listed(), [a, b, webhook]);

    const confirmed = await post(contactId, { Origin: api.url });
    assert.deepEqual([confirmed.status, confirmed.headers.get('Cache-Control')], [200, 'no-store']);
    assert.match(await confirmed.text(), /now go to b@x\.org/);
    assert.deepEqual((await listed())[1], ['b@x.org', true]);
    assert.ok(!JSON.stringify(api.logged()).includes(contactId));
    assert.match((await api.ask('GET', `/confirm/${contactId}`)).text, /used/);
  });

  it('are listed for their own company only', async () => {
    const { at } = await company('one');
    const { key } = await company('other');
    assert.equal((await api.ask('GET', `${at}/contacts`, key)).status, 401);
    assert.equal((await api.ask('GET', '/admin/companies/nobody/contacts', adminToken)).status, 404);
  });

  it('cannot be guessed: an invalid link counts as a failed authentication', async () => {
    const statuses = new Set<number>();
    for (let tries = 0; tries <= failuresPerMinute; tries += 1)
      statuses.add((await api.ask('GET', `/confirm/${'x'.repeat(31)}${tries % 10}`)).status);
    assert.deepEqual([...statuses], [401, 429]);
  });
});
