/**
 * The process that durability.test.ts kills. It creates rules in an embedded store forever, and prints each rule after the store
 * has acknowledged it.
 */

import { writeSync } from 'node:fs';
import { openEmbedded } from '../../src/store/embedded.js';
import { createStore } from '../../src/store/store.js';

const [directory = ''] = process.argv.slice(2);
const store = createStore(await openEmbedded(directory));
await store.companies.put('acme', () => ({ companyId: 'acme', name: 'Acme', timeZone: 'UTC' }), { kind: 'admin' });
for (;;) {
  const made = await store.rules.create('acme', { name: 'Alert', onFailure: 'hold', onUnknown: 'resend' }, { kind: 'admin' });
  if (typeof made === 'string') throw new Error(made);
  writeSync(1, `${made.rule.relayId} ${made.relayAccessToken}\n`);
}
