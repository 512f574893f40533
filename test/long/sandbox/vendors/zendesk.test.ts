import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createZendesk, zendeskDoubts } from '../../../../src/sandbox/vendors/zendesk.js';
import zendesk from '../../../fixtures/zendesk.json' with { type: 'json' };
import { describeFixtures, itCutsConnections, served } from '../../../sandbox/vendors.js';

describeFixtures(zendesk, zendeskDoubts, (doubts) => createZendesk({ doubts }));

describe('the simulator of Zendesk', () => {
  const simulator = served(createZendesk);

  const read = (id = 35436, headers: Record<string, string> = {}) =>
    fetch(`${simulator.url}/api/v2/tickets/${id}.json`, { headers: { ...zendesk.headers, ...headers } });
  const setNote = (value: string, id = 35436, more = {}) =>
    fetch(`${simulator.url}/api/v2/tickets/${id}.json`, {
      method: 'PUT',
      headers: { ...zendesk.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ticket: { custom_fields: [{ id: 360002, value }], ...more } }),
    });
  const note = () => simulator.vendor.state.tickets.get(35436)?.values[360002];

  it('refuses requests above the limit of the account for a minute', async () => {
    simulator.vendor.state.limits.perMinute = 2;
    const left = [await read(), await read()].map(({ headers }) => headers.get('x-rate-limit-remaining'));
    assert.deepEqual(left, ['1', '0']);
    const refused = await read();
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    simulator.vendor.state.requests = simulator.vendor.state.requests.map((at) => at - 60_000);
    assert.equal((await read()).status, 200, 'a minute later');
  });

  it('refuses updates of one ticket above its limit, but not of another', async () => {
    simulator.vendor.state.limits.updatesPerTicket = 2;
    for (const value of ['1', '2']) assert.equal((await setNote(value)).status, 200);
    const refused = await setNote('3');
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /please wait before updating this ticket again/);
    assert.ok(Number(refused.headers.get('retry-after')) > 60);
    assert.equal((await setNote('3', 35437)).status, 200);
    assert.equal((await read()).status, 200);
    for (const update of simulator.vendor.state.updates) update.at -= 600_000;
    assert.equal((await setNote('3')).status, 200, 'ten minutes later');
  });

  it('refuses updates of all tickets above the limit of the account', async () => {
    simulator.vendor.state.limits.updatesPerMinute = 1;
    assert.equal((await setNote('1')).status, 200);
    const refused = await setNote('2', 35437);
    assert.deepEqual([refused.status, await refused.text()], [429, 'Number of allowed API requests per minute exceeded']);
    for (const update of simulator.vendor.state.updates) update.at -= 60_000;
    assert.equal((await setNote('2', 35437)).status, 200, 'a minute later');
  });

  it('accepts a second safe update only with the stamp from the answer to the first', async () => {
    const safe = async (updated_stamp?: string) => setNote(`after ${updated_stamp}`, 35436, { safe_update: true, updated_stamp });
    const first = await safe('2026-01-05T09:00:00Z');
    const { ticket } = (await first.json()) as { ticket: { updated_at: string } };
    assert.notEqual(ticket.updated_at, '2026-01-05T09:00:00Z');
    assert.equal((await safe('2026-01-05T09:00:00Z')).status, 409);
    assert.equal((await safe()).status, 409, 'without a stamp');
    assert.equal((await safe(ticket.updated_at)).status, 200);
  });

  it('ends a token after its lifetime', async () => {
    const headers = { Authorization: 'Bearer access-token-0' };
    assert.equal((await read(35436, headers)).status, 200);
    simulator.vendor.state.tokens = simulator.vendor.state.tokens.map((token) => ({ ...token, expiresAt: Date.now() }));
    assert.equal((await read(35436, headers)).status, 401);
  });

  itCutsConnections(simulator, setNote, note);

  it('keeps a journal without secrets', async () => {
    const { clientId: client_id, clientSecret: client_secret } = simulator.vendor.state.credentials;
    const granted = await fetch(`${simulator.url}/oauth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token', refresh_token: 'refresh-token-0', client_id, client_secret }),
    });
    assert.equal(granted.status, 201);
    await read(35436, { Authorization: 'Bearer access-token-1' });
    await setNote('Use the back door');
    for (const secret of [client_secret, 'refresh-token-0', 'access-token-1', zendesk.headers.Authorization])
      assert.ok(!JSON.stringify(simulator.vendor.state.calls).includes(secret));
    assert.deepEqual(simulator.vendor.state.calls.at(-1)?.body, {
      ticket: { custom_fields: [{ id: 360002, value: 'Use the back door' }] },
    });
  });
});
