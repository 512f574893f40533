import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectwiseDoubts, createConnectwise } from '../../../../src/sandbox/vendors/connectwise.js';
import connectwise from '../../../fixtures/connectwise.json' with { type: 'json' };
import { describeFixtures, itCutsConnections, served } from '../../../sandbox/vendors.js';

describeFixtures(connectwise, connectwiseDoubts, (doubts) => createConnectwise({ doubts }));

describe('the simulator of ConnectWise', () => {
  const simulator = served(createConnectwise);

  const path = '/v2025_1/apis/3.0/service/tickets/5000';
  const setNote = (value: string) =>
    fetch(simulator.url + path, {
      method: 'PATCH',
      headers: { ...connectwise.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify([{ op: 'replace', path: 'customFields', value: [{ id: 29, value }] }]),
    });
  const note = () => simulator.vendor.state.tickets.get(5000)?.values[29];

  it('says when a ticket was changed', async () => {
    const before = simulator.vendor.state.tickets.get(5000)?.lastUpdated;
    assert.equal((await setNote('Use the back door')).status, 200);
    assert.notEqual(simulator.vendor.state.tickets.get(5000)?.lastUpdated, before);
  });

  itCutsConnections(simulator, setNote, note);

  it('answers like an on-premise installation if the codebase has no number', async () => {
    simulator.vendor.state.codebase = 'v4_6_release/';
    const info = await fetch(`${simulator.url}/login/companyinfo/example`);
    const { Codebase, IsCloud } = (await info.json()) as { Codebase: string; IsCloud: boolean };
    assert.deepEqual([Codebase, IsCloud], ['v4_6_release/', false]);
    assert.equal((await fetch(simulator.url + path, { headers: connectwise.headers })).status, 404);
  });

  it('keeps a journal without secrets', async () => {
    await setNote('Use the back door');
    const [call] = simulator.vendor.state.calls;
    assert.equal(call?.headers.authorization, '***');
    assert.equal(call?.headers.clientid, '***');
    assert.deepEqual(call?.body, [{ op: 'replace', path: 'customFields', value: [{ id: 29, value: 'Use the back door' }] }]);
  });
});
