import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Guesses } from '../../../src/api/guesses.js';
import { authenticateRequest } from '../../../src/api/relay-authentication.js';
import { Rejection } from '../../../src/contract/problem.js';
import { createLog } from '../../../src/service/telemetry.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { openEmptied } from '../../store/emptied.js';

const log = createLog('silent');
const actor = { kind: 'admin' } as const;
const companyId = 'acme';
let store: Store;
before(async () => {
  store = createStore(await openEmptied());
  await store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC' }), actor);
});
after(() => store.close());

async function rule() {
  const made = await store.rules.create(companyId, { name: 'Rule', onFailure: 'hold', onUnknown: 'resend' }, actor);
  assert(typeof made === 'object');
  return { relayId: made.rule.relayId, relayAccessToken: made.relayAccessToken };
}

it('a request with an expired token is kept, even if another action is of a disabled rule, and runs only after confirmation', async () => {
  const [disabled, rotated] = [await rule(), await rule()];
  await store.rules.update(companyId, disabled.relayId, (stored) => ({ ...stored, enabled: false }), actor);
  await store.tokens.rotate(companyId, rotated.relayId, 0, actor);
  const request = { bytes: new ArrayBuffer(0), headers: new Headers() };
  const asked = authenticateRequest({ store, log, guesses: new Guesses(log) }, companyId, [disabled, rotated], request);
  await assert.rejects(asked, (error) => error instanceof Rejection && error.reason === 'token-expired');
});

it('an example without a token says where its token is', async () => {
  const request = { bytes: new ArrayBuffer(0), headers: new Headers() };
  const ask = (relayAccessToken: string) =>
    authenticateRequest({ store, log, guesses: new Guesses(log) }, companyId, [{ relayId: '4711', relayAccessToken }], request);
  await assert.rejects(ask('<RELAY_ACCESS_TOKEN>'), /in place of <RELAY_ACCESS_TOKEN>.*`\.relay\/examples`/);
  await assert.rejects(ask('another-wrong-token'), (error: Error) => !error.message.includes('examples'));
});
