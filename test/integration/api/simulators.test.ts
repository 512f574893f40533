/** Under `npm start`, a manager can connect the machine's simulators. Otherwise no key can set an address of the machine. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createConnectors } from '../../../src/connectors/connectors.js';
import type { StoredCompany } from '../../../src/contract/company.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { simulatorsAt } from '../../../src/sandbox/vendors/simulators.js';
import { adminToken, serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
after(() => platform.close());
const simulators = simulatorsAt(platform.url);

/** Serves the API to a key with the role `manage`. */
async function served(offered?: typeof simulators) {
  const api = await serveApi(await openEmptied(), { simulators: offered });
  after(() => api.close());
  const at = `${api.url}/admin/companies/${api.companyId}`;
  const ask = (method: string, path: string, body?: object, bearer = adminToken) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    return fetch(path, { method, headers, body: body && JSON.stringify(body) });
  };
  const { key } = (await (await ask('POST', `${at}/keys`, { name: 'manager', role: 'manage' })).json()) as { key: string };
  return {
    facts: async () =>
      (await ask('GET', `${api.url}/co/${api.companyId}`, undefined, key)).json() as Promise<{ simulators?: object }>,
    connect: (section: string, settings: object | null) => ask('PATCH', at, { [section]: settings }, key),
    stored: () => api.store.companies.get(api.companyId),
  };
}

const connectors = createConnectors({ allowPrivateNetworks: true, mailFrom: 'relay@relay.example' });
after(() => connectors.close());

/** Calls the connected system, as a worker does. If the address counted as set by a key, only a public address would work. */
async function check(company: StoredCompany | undefined, section: string): Promise<void> {
  assert(company);
  const limits = { timeoutMs: 15_000, attempt: 1 };
  if (section === 'platform') await connectors.platformOf(company).check(limits, {});
  else await connectors.ticketingOf(company).check(limits, {});
}

const entries = Object.entries(simulators).flatMap(([section, of]) => of.map((one) => ({ section, ...one })));
const [simulator] = simulators.ticketing;

describe('the simulators of npm start', () => {
  it('are offered, and work for a manager of a company', async () => {
    const { facts, connect, stored } = await served(simulators);
    assert.deepEqual((await facts()).simulators, simulators);
    for (const { section, name, settings } of entries) {
      assert.equal((await connect(section, settings)).status, 200, name);
      await check(await stored(), section);
    }
    assert.equal((await stored())?.setByCompany, undefined);
  });

  it('are the only addresses of the machine that a manager may set', async () => {
    const { connect, stored } = await served(simulators);
    const { host, port } = new URL(platform.url);
    for (const baseUrl of [
      `http://localhost:${port}`,
      'http://127.0.0.1:7233',
      `${platform.url}/control`,
      `http://${host}@127.0.0.1:1`,
    ])
      for (const kind of ['http', 'autotask']) {
        const settings = { ...simulators.ticketing.find((one) => one.settings.kind === kind)?.settings, baseUrl };
        assert.equal((await connect('ticketing', settings)).status, 400, `${kind} at ${baseUrl}`);
      }
    assert.equal(
      (await connect('platform', { kind: 'http', baseUrl: platform.url, auth: tokenAt('http://127.0.0.1:1') })).status,
      400,
    );
    assert.equal((await stored())?.ticketing, undefined);
  });

  it('do not open the network to a system at a public address that the manager connects later', async () => {
    const { connect, stored } = await served(simulators);
    await connect('ticketing', simulator?.settings ?? {});
    assert.equal((await connect('ticketing', { baseUrl: 'https://tickets.example.com' })).status, 200);
    assert.deepEqual((await stored())?.setByCompany, ['ticketing']);
  });
});

it('without npm start, a manager cannot set the address of a simulator', async () => {
  const { facts, connect } = await served();
  assert.equal((await facts()).simulators, undefined);
  for (const { section, name, settings } of entries) {
    const refused = await connect(section, settings);
    assert.equal(refused.status, 400, name);
    assert.match(problemSchema.parse(await refused.json()).errors?.[0]?.pointer ?? '', /baseUrl$/);
  }
});

const tokenAt = (origin: string) => ({ type: 'oauth2', tokenUrl: `${origin}/token`, clientId: 'a', clientSecret: 'b' });
