/** Company `evil` may list any address, even an address of another company. `evil` gets no access to the other company. */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { PlainBrowser } from '../../../api/browser-of-person.js';
import { adminToken, wholeApi } from '../../../api/whole-api.js';

const api = await wholeApi();
after(() => api.close());

it('a company neither sees, changes nor becomes a person of another company', async () => {
  for (const companyId of ['acme', 'evil'])
    await api.ask('PUT', `/admin/companies/${companyId}`, adminToken, { name: companyId, notify: { emails: ['a@b.example'] } });
  const people = (companyId: string) => `/admin/companies/${companyId}/people`;
  const listed = async (companyId: string) => (await api.ask('GET', people(companyId), adminToken)).json.people;
  const ada = (await api.ask('PUT', people('acme'), adminToken, { email: 'ada@acme.example', role: 'read' })).json;
  const mallory = (await api.ask('PUT', people('evil'), adminToken, { email: 'mallory@evil.example', role: 'manage' })).json;
  const before = await listed('acme');

  const { key } = (await api.ask('POST', '/admin/companies/evil/keys', adminToken, { name: 'k', role: 'manage' })).json;
  const asPerson = await signedIn(mallory.personId);
  const attacks: [method: string, path: string, body?: object][] = [
    ['GET', people('acme')],
    ['PUT', people('acme'), { email: 'mallory@evil.example', role: 'manage' }],
    ['PUT', people('acme'), { email: 'ada@acme.example', role: 'manage' }],
    ['DELETE', `${people('acme')}/${ada.personId}`],
    ['GET', '/co/acme'],
    ['GET', '/co/acme/events?path=/co/acme'],
  ];
  for (const [method, path, body] of attacks) {
    assert.equal((await api.ask(method, path, key, body)).status, 401, `${method} ${path} with a key`);
    const json = body && JSON.stringify(body);
    const headers = { Cookie: asPerson, 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' };
    const answer = await fetch(api.url + path, { method, headers, ...(json && { body: json }) });
    assert.equal(answer.status, 401, `${method} ${path} with a session`);
  }
  assert.equal((await api.ask('DELETE', `${people('evil')}/${ada.personId}`, key)).status, 404, 'by an id of the other company');
  assert.deepEqual(await listed('acme'), before);

  // The same address in two companies means two people, each with a role. A company can remove only its own person.
  const twin = (await api.ask('PUT', people('evil'), key, { email: 'ADA@acme.example', role: 'manage' })).json;
  assert.notEqual(twin.personId, ada.personId);
  const of = (await api.store.people.withAddress('ada@acme.example')).map(({ companyId, role }) => [companyId, role]);
  assert.deepEqual(of, [
    ['acme', 'read'],
    ['evil', 'manage'],
  ]);
  const adaHere = await signedIn(ada.personId);
  assert.equal((await fetch(`${api.url}/co/acme`, { headers: { Cookie: adaHere } })).status, 200);
  assert.equal((await api.ask('DELETE', `${people('evil')}/${twin.personId}`, key)).status, 204);
  assert.equal((await fetch(`${api.url}/co/acme`, { headers: { Cookie: adaHere } })).status, 200);
  assert.deepEqual(
    (await listed('acme')).map(({ role }: { role: string }) => role),
    ['read'],
  );
});

/** Signs in with a link, as if the person had got it by mail. @returns the cookies */
async function signedIn(personId: string): Promise<string> {
  const browser = new PlainBrowser(api.url);
  const secret = 'b'.repeat(43);
  browser.cookies.set('relay-browser', secret);
  const link = `${personId}${'x'.repeat(43 - personId.length)}`;
  await api.store.people.begin(link, secret, await personOf(personId));
  assert.equal((await browser.post(`/sign-in/link/${link}`, { personId })).status, 303);
  return [...browser.cookies].map((pair) => pair.join('=')).join('; ');
}

async function personOf(personId: string) {
  const all = await Promise.all(
    ['acme', 'evil'].map(async (companyId) => ({ companyId, found: await api.store.people.list(companyId) })),
  );
  return all.flatMap(({ companyId, found = [] }) =>
    found.filter((one) => one.personId === personId).map((one) => ({ ...one, companyId, companyName: companyId })),
  );
}
