import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServicenow, servicenowDoubts } from '../../../../src/sandbox/vendors/servicenow.js';
import servicenow from '../../../fixtures/servicenow.json' with { type: 'json' };
import { describeFixtures, served } from '../../../sandbox/vendors.js';

describeFixtures(servicenow, servicenowDoubts, (doubts) => createServicenow({ doubts }));

describe('the simulator of ServiceNow', () => {
  const simulator = served(createServicenow);

  const incident = '/api/now/table/incident/a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1';
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(simulator.url + path, { headers: { ...servicenow.headers, ...headers } });
  const setNote = (u_site_note: string) =>
    fetch(simulator.url + incident, {
      method: 'PATCH',
      headers: { ...servicenow.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ u_site_note }),
    });
  const note = () => simulator.vendor.state.tables.get('incident')?.[0]?.u_site_note;
  const token = async (grant: Record<string, string>) => {
    const { clientId: client_id, clientSecret: client_secret } = simulator.vendor.state.credentials;
    const body = new URLSearchParams({ client_id, client_secret, ...grant });
    const answer = await fetch(`${simulator.url}/oauth_token.do`, { method: 'POST', body });
    return (await answer.json()) as { access_token: string; refresh_token?: string };
  };

  it('counts the requests of an hour by the rule of the customer, and names the rule', async () => {
    assert.equal((await ask(incident)).headers.get('x-ratelimit-limit'), null, 'without a rule');
    const endsAt = Date.parse('2100-01-01T00:00:00Z');
    simulator.vendor.state.hour = { endsAt, requests: 1 };
    simulator.vendor.state.rateLimit = { rule: 'e0'.repeat(16), perHour: 2 };
    const allowed = await ask(incident);
    assert.deepEqual([allowed.status, allowed.headers.get('x-ratelimit-rule')], [200, 'e0'.repeat(16)]);
    const refused = await ask(incident);
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /Rate limit of 2 requests per hour for Table API exceeded/);
    assert.equal(refused.headers.get('x-ratelimit-reset'), `${endsAt / 1000}`);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    simulator.vendor.state.hour.endsAt = 0;
    assert.equal((await ask(incident)).status, 200, 'an hour later');
  });

  it('ends a token after its lifetime', async () => {
    const { username, password } = simulator.vendor.state.credentials;
    const { access_token } = await token({ grant_type: 'password', username, password });
    const authorization = `Bearer ${access_token}`;
    assert.equal((await ask(incident, { Authorization: authorization })).status, 200);
    simulator.vendor.state.tokens = simulator.vendor.state.tokens.map((one) => ({ ...one, expiresAt: Date.now() }));
    assert.equal((await ask(incident, { Authorization: authorization })).status, 401);
  });

  it('grants client credentials, without a refresh token, if the customer has switched them on', async () => {
    simulator.vendor.state.clientCredentialsAreOn = true;
    const { access_token: access, refresh_token } = await token({ grant_type: 'client_credentials' });
    assert.equal(refresh_token, undefined);
    assert.equal((await ask(incident, { Authorization: `Bearer ${access}` })).status, 200);
    assert.equal((await token({ grant_type: 'refresh_token' })).access_token, undefined);
  });

  it('returns no rows for an invalid query if the customer has set the property', async () => {
    simulator.vendor.state.invalidQueriesReturnNoRows = true;
    assert.deepEqual(await (await ask('/api/now/table/incident?sysparm_query=nummer=INC0010002')).json(), { result: [] });
  });

  it('also has incidents as tasks', async () => {
    const path = '/api/now/table/task?sysparm_query=number=INC0010002&sysparm_fields=sys_class_name';
    assert.deepEqual(await (await ask(path)).json(), { result: [{ sys_class_name: 'incident' }] });
  });

  it('cuts the connection before a change, and after it', async () => {
    simulator.vendor.state.rateLimit = { rule: 'e0'.repeat(16), perHour: 100 };
    simulator.vendor.faults.now = { name: 'cut-off', times: 1 };
    await assert.rejects(setNote('lost'));
    assert.equal(note(), 'Ring twice');
    simulator.vendor.faults.now = { name: 'cut-off-after', times: 1 };
    await assert.rejects(setNote('kept'));
    assert.equal(note(), 'kept');
    assert.deepEqual(
      simulator.vendor.state.calls.map(({ status }) => status),
      ['dropped', 'dropped'],
    );
  });

  it('keeps a journal without secrets', async () => {
    const { username, password } = simulator.vendor.state.credentials;
    const { access_token, refresh_token } = await token({ grant_type: 'password', username, password });
    await token({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '' });
    await ask(incident, { Authorization: `Bearer ${access_token}` });
    await setNote('Use the back door');
    const { clientSecret } = simulator.vendor.state.credentials;
    for (const secret of [password, clientSecret, access_token, `${refresh_token}`, servicenow.headers.Authorization])
      assert.ok(!JSON.stringify(simulator.vendor.state.calls).includes(secret));
    assert.deepEqual(simulator.vendor.state.calls.at(-1)?.body, { u_site_note: 'Use the back door' });
  });
});
