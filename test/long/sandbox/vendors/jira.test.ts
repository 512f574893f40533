import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createJira, jiraDoubts } from '../../../../src/sandbox/vendors/jira.js';
import jira from '../../../fixtures/jira.json' with { type: 'json' };
import { describeFixtures, itCutsConnections, served } from '../../../sandbox/vendors.js';

describeFixtures(jira, jiraDoubts, (doubts) => createJira({ doubts }));

describe('the simulator of Jira', () => {
  const simulator = served(createJira);

  const path = '/rest/api/3/issue/RELAY-1';
  const setNote = (value: string) =>
    fetch(simulator.url + path, {
      method: 'PUT',
      headers: { ...jira.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ fields: { customfield_10011: value } }),
    });
  const note = () => simulator.vendor.state.issues.get('RELAY-1')?.values.customfield_10011;

  itCutsConnections(simulator, setNote, note);

  it('refuses the token that a customer has revoked', async () => {
    simulator.vendor.state.credentials.apiToken = 'another';
    assert.equal((await setNote('lost')).status, 401);
    assert.equal(note(), 'Ring twice');
  });

  it('limits writes to an issue, not reads', async () => {
    simulator.vendor.faults.now = { name: 'issue-limit' };
    assert.equal((await fetch(simulator.url + path, { headers: jira.headers })).status, 200);
    assert.equal((await setNote('lost')).headers.get('ratelimit-reason'), 'jira-per-issue-on-write');
    assert.equal(note(), 'Ring twice');
  });

  it('says how long a client must wait, or does not say it', async () => {
    for (const retryAfterIsSent of [true, false]) {
      const { app, faults } = createJira({ doubts: { retryAfterIsSent } });
      faults.now = { name: 'rate-limit' };
      const answer = await app.request(path, { headers: jira.headers });
      assert.deepEqual([answer.status, answer.headers.has('retry-after')], [429, retryAfterIsSent]);
    }
  });

  it('keeps a journal without secrets', async () => {
    await setNote('Use the back door');
    const [call] = simulator.vendor.state.calls;
    assert.equal(call?.headers.authorization, '***');
    assert.deepEqual(call?.body, { fields: { customfield_10011: 'Use the back door' } });
    assert.equal(call?.status, 204);
  });
});
