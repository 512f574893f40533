/** The demo company: it works with the pretend platform and the mail catcher, and its rule's token is no secret. */

import type { Store } from '../store/store.js';

export const demo = { companyId: 'demo', relayId: '4711', relayAccessToken: 'demo-token-for-this-laptop-only' };

/** Makes the demo company in a store that has no company yet. @returns whether there is a demo company to try things with. */
export async function ensureDemo(store: Store, platformUrl: string): Promise<boolean> {
  const actor = { kind: 'admin' } as const;
  const { items } = await store.companies.list({ limit: 1 });
  if (items.length === 0) {
    await store.companies.put(
      demo.companyId,
      () => ({
        companyId: demo.companyId,
        name: 'Demo company',
        timeZone: 'America/Chicago',
        notify: { emails: ['admin@demo.example'] },
        platform: { kind: 'http', baseUrl: platformUrl },
        ticketing: { kind: 'http', baseUrl: platformUrl },
      }),
      actor,
    );
  }
  const known = await store.companies.get(demo.companyId);
  const rules = await store.rules.list(demo.companyId, { limit: 1 });
  if (known && rules.items.length === 0) {
    await store.rules.create(demo.companyId, { name: 'Demo rule', onFailure: 'hold', onUnknown: 'resend', ...demo }, actor);
  }
  return (await store.rules.get(demo.companyId, demo.relayId)) !== undefined;
}
