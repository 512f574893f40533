/** The demo company: it works with the pretend platform and the mail catcher, and its rule's token is no secret. */

import type { Store } from '../store/store.js';

export const demo = { companyId: 'demo', relayId: '4711', relayAccessToken: 'demo-token-for-this-laptop-only' };

/** Makes the demo company in a store that has no company yet. @returns whether there is a demo company to try things with. */
export async function ensureDemo(store: Store, platformUrl: string): Promise<boolean> {
  const actor = { kind: 'admin' } as const;
  const { companyId } = demo;
  const { items } = await store.companies.list({ limit: 1 });
  if (items.length === 0) {
    const system = { kind: 'http', baseUrl: platformUrl } as const;
    const notify = { emails: ['admin@demo.example'] };
    const company = { companyId, name: 'Demo company', timeZone: 'America/Chicago', notify, platform: system, ticketing: system };
    await store.companies.put(companyId, () => company, actor);
  }
  const known = await store.companies.get(companyId);
  const rules = await store.rules.list(companyId, { limit: 1 });
  if (known && rules.items.length === 0) {
    await store.rules.create(companyId, { name: 'Demo rule', onFailure: 'hold', onUnknown: 'resend', ...demo }, actor);
  }
  return (await store.rules.get(companyId, demo.relayId)) !== undefined;
}
