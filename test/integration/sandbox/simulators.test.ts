/** The vendors' simulators of `npm start`, with the real connectors. The simulators share the address of the demo platform. */

import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { ticketingKinds } from '../../../src/chain/kinds.js';
import { createConnectors } from '../../../src/connectors/connectors.js';
import { companyRequest, type NewCompany } from '../../../src/contract/company.js';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { vendorSettings } from '../../../src/sandbox/vendors/simulators.js';
import { failing } from '../../connectors/failing.js';
import { call } from '../../sandbox/http.js';

const { url, close } = await startPlatform({ host: '127.0.0.1', port: 0 });
const connectors = createConnectors({ allowPrivateNetworks: true, mailFrom: 'relay@example.org' });
after(() => Promise.all([close(), connectors.close()]));
const limits = { timeoutMs: 15_000, attempt: 1 };
const settings = vendorSettings(url);
const companyOf = (kind: string): NewCompany => {
  return { ...companyRequest.parse({ name: 'Demo', ...settings[kind] }), companyId: kind } as NewCompany;
};
const ticketing = (kind: string) => connectors.ticketingOf(companyOf(kind) as Parameters<typeof connectors.ticketingOf>[0]);

describe('the simulators of npm start', () => {
  beforeEach(async () => {
    for (const kind of Object.keys(settings)) await call(url, 'DELETE', `/vendors/${kind}/control/fail`);
  });

  for (const kind of Object.keys(ticketingKinds))
    it(`${kind}: a connector sets a field, and the page shows it`, async () => {
      const [, part = ''] = (await call(url, 'GET', '/vendors')).text.split(`<h2 id="${kind}">`);
      const [, ticketId = ''] = /<h3>(.*?) · /.exec(part) ?? [];
      const update = { ticketId, name: 'Site note', text: `By ${kind}`, value: `By ${kind}`, hasPattern: false, timeZone: 'UTC' };
      await ticketing(kind).setField(update, limits);
      assert.match((await call(url, 'GET', '/vendors')).text, new RegExp(`:</span> By ${kind}</li>`));
      await call(url, 'PUT', `/vendors/${kind}/control/fail`, { name: 'permission' });
      assert.match((await call(url, 'GET', '/vendors')).text, /Failing:/);
      const again = { ...update, text: 'again', value: 'again' };
      assert.equal((await failing(ticketing(kind).setField(again, limits))).kind, 'permanent');
    });

  it('workmarket: a connector sends an assignment', async () => {
    const platform = connectors.platformOf(companyOf('workmarket') as Parameters<typeof connectors.platformOf>[0]);
    await platform.check(limits, { assignmentId: '6029116324' });
    await platform.sendAssignment('6029116324', { groupIds: ['11'], radiusMiles: 20 }, limits);
  });

  it('has buttons that set a failure and end it, and refuses an unknown failure', async () => {
    const press = (button: string, form = {}) =>
      fetch(`${url}/vendors/jira/page/${button}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const pressed = await press('fail', { failure: '{"name":"unavailable"}' });
    assert.deepEqual([pressed.status, pressed.headers.get('location')], [303, '/vendors']);
    assert.equal((await call(url, 'GET', '/vendors/jira/control')).at('fail.name'), 'unavailable');
    await press('heal');
    assert.equal((await call(url, 'GET', '/vendors/jira/control')).at('fail'), null);
    assert.equal((await call(url, 'PUT', '/vendors/jira/control/fail', { name: 'no such failure' })).status, 400);
  });

  it('breaks connections at the shared address', async () => {
    await call(url, 'PUT', '/vendors/zendesk/control/fail', { name: 'cut-off', times: 1 });
    await assert.rejects(fetch(`${url}/api/v2/users/me.json`));
    assert.equal((await fetch(`${url}/api/v2/users/me.json`)).status, 200);
  });
});
