/**
 * Makes the demo company, which has one rule and uses the demo platform and the mail catcher. Also writes example chains,
 * and settings that connect a company to the simulators of vendors.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chainRequest } from '../api/relay-request.js';
import type { Store } from '../store/store.js';
import { vendorSettings } from './vendors/simulators.js';

const ids = { companyId: 'demo', relayId: '4711' };
export type Demo = typeof ids & {
  relayAccessToken: string;
  examples: string; // the directory of the examples
};

/**
 * Creates the demo company if the store has no company. Writes the rule's random token and the examples into the data directory.
 * @returns undefined if the demo's rule was deleted or disabled, or if the token in the file is not valid any more.
 */
export async function ensureDemo(store: Store, platformUrl: string, dataDir: string): Promise<Demo | undefined> {
  const actor = { kind: 'admin' } as const;
  const { companyId, relayId } = ids;
  const system = { kind: 'http', baseUrl: platformUrl } as const;
  const connections = { platform: system, ticketing: system };
  const { items } = await store.companies.list({ limit: 1 });
  if (items.length === 0) {
    const notify = { emails: ['admin@demo.example'] };
    const company = { companyId, name: 'Demo company', timeZone: 'America/Chicago', notify, noticeEdits: true, ...connections };
    await store.companies.put(companyId, () => company, actor);
    await store.people.set(companyId, { email: 'admin@demo.example', name: 'Demo manager', role: 'manage' }, actor);
  }
  const known = await store.companies.get(companyId);
  const rules = await store.rules.list(companyId, { limit: 1 });
  const tokenFile = join(dataDir, 'demo-token');
  const keep = (made: { relayAccessToken: string } | string | undefined) => {
    if (typeof made === 'object') writeFileSync(tokenFile, `${made.relayAccessToken}\n`, { mode: 0o600 });
  };
  if (known && rules.items.length === 0)
    keep(await store.rules.create(companyId, { name: 'Demo rule', onFailure: 'hold', onUnknown: 'resend', relayId }, actor));
  else if (!existsSync(tokenFile)) keep(await store.tokens.rotate(companyId, relayId, 0, actor));
  if (!existsSync(tokenFile)) return undefined;

  const relayAccessToken = readFileSync(tokenFile, 'utf8').trim();
  // Unlike `authenticate`, this check does not count as a use of the token.
  const tokens = (await store.tokens.recognizer(companyId, true)).of(relayAccessToken);
  if (!tokens.some((token) => token.relayId === relayId && token.state === 'active' && token.enabled)) return undefined;
  const examples = join(dataDir, 'examples');
  mkdirSync(examples, { recursive: true, mode: 0o700 });
  const write = (name: string, content: object) =>
    writeFileSync(join(examples, `${name}.json`), `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  for (const [name, { value }] of Object.entries(chainRequest.examples)) {
    const chain = value.map((action) => ({ ...action, relayId, relayAccessToken }));
    write(name, chain);
  }
  for (const [kind, settings] of Object.entries({ demo: connections, ...vendorSettings(platformUrl) }))
    write(`connect-${kind}`, settings);
  return { ...ids, relayAccessToken, examples };
}
