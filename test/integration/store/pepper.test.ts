import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashOf } from '../../../src/contract/credential.js';
import type { Database } from '../../../src/store/database.js';
import { Pepper } from '../../../src/store/pepper.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';

const admin = { kind: 'admin' } as const;
const secret = 'the secret of this service: long enough';
const otherSecret = 'the secret of some other service: as long';

for (const { name, open, skip } of testDatabases) {
  describe(`hashes with a pepper, on ${name}`, { skip }, () => {
    let database: Database;
    const stores: Store[] = [];
    before(async () => {
      database = await open();
    });
    after(async () => {
      for (const { settings } of stores) settings.close();
      await database.close();
    });

    /** A process with this RELAY_SECRET. */
    function storeWith(secret?: string): Store {
      const store = createStore(database, { secret });
      stores.push(store);
      return store;
    }
    async function fixture(store: Store, companyId: string) {
      await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
      const made = await store.rules.create(companyId, { name: 'Alert', onFailure: 'hold', onUnknown: 'resend' }, admin);
      const key = await store.keys.create(companyId, 'console', admin);
      assert(typeof made === 'object' && typeof key === 'object');
      const { relayId } = made.rule;
      const ask = async (asked: Store, relayAccessToken = made.relayAccessToken) => {
        const { ok } = await asked.tokens.authenticate(companyId, [{ relayId, relayAccessToken }]);
        return [ok, (await asked.keys.authenticate(key.key))?.keyId === key.keyId];
      };
      return { ...made, relayId, key: key.key, ask };
    }
    const hashes = async () =>
      JSON.stringify(
        await database.query(`SELECT encode(hash, 'hex') AS hash FROM tokens
      UNION ALL SELECT encode(hash, 'hex') FROM company_keys UNION ALL SELECT encode(hash, 'hex') FROM admin_tokens`),
      );

    it('accept older hashes without a pepper, wrap each of them once, and leave no plain hash', async () => {
      const plain = storeWith();
      const { relayAccessToken, key, ask } = await fixture(plain, 'before');
      assert.equal(await plain.pepperHashes(), 0, 'without a pepper, plain hashes are right');
      const rotated = await fixture(plain, 'also-before');
      const shown = hashOf(relayAccessToken).toString('hex');
      const ofAdmin = 'INSERT INTO admin_tokens (admin_token_id, name, hash) VALUES ($1, $1, $2)';
      await database.query(ofAdmin, ['ada', hashOf("ada's token")]);
      assert((await hashes()).includes(shown));
      const peppered = storeWith(secret);
      assert.deepEqual(await ask(peppered), [true, true], 'before they are wrapped');
      await Promise.all([peppered.pepperHashes(), storeWith(secret).pepperHashes(), storeWith(secret).pepperHashes()]);
      assert.deepEqual(await ask(storeWith(secret)), [true, true]);
      assert.deepEqual(await rotated.ask(storeWith(secret)), [true, true]);
      assert.deepEqual(await ask(peppered), [true, true], 'with the settings of before');
      assert.deepEqual(await ask(peppered, `${relayAccessToken}x`), [false, true]);
      for (const credential of [relayAccessToken, key, "ada's token"])
        assert(!(await hashes()).includes(hashOf(credential).toString('hex')), 'no hash is plain');
      // The stored hash itself is not accepted as a credential.
      assert.equal(await peppered.keys.authenticate(hashOf(key).toString('hex')), undefined);
    });

    it('are created for every new credential', async () => {
      const peppered = storeWith(secret);
      const { relayAccessToken, relayId, ask } = await fixture(peppered, 'new');
      assert.deepEqual(await ask(peppered), [true, true]);
      assert(!(await hashes()).includes(hashOf(relayAccessToken).toString('hex')));
      const { relayAccessToken: next = '' } = (await peppered.tokens.rotate('new', relayId, 0, admin)) ?? {};
      assert.deepEqual(await ask(peppered, next), [true, true]);
      assert.deepEqual(await ask(peppered), [false, true]);
    });

    it('need RELAY_SECRET: without it a process does not start, and a running process reports this error instead of 401', async () => {
      const { ask, relayId } = await fixture(storeWith(secret), 'without');
      const without = storeWith();
      const said = { name: 'PepperError', message: /RELAY_SECRET/ };
      await assert.rejects(without.pepperHashes(), said);
      await assert.rejects(ask(without), said);
      await assert.rejects(without.keys.authenticate('rlk_x'), said);
      const unknown = await without.tokens.authenticate('without', [{ relayId: `${relayId}0`, relayAccessToken: 'x' }]);
      assert.deepEqual(unknown, { ok: false, refusals: ['unknown'] });
    });

    it('of an older RELAY_SECRET are accepted if it is listed after the new one, and are replaced when they are used', async () => {
      const { relayId, relayAccessToken, key, ask } = await fixture(storeWith(secret), 'aging');
      const { token } = (await storeWith(secret).adminTokens.create({ name: 'aging' }, admin)) ?? {};
      const changing = storeWith(`${otherSecret},${secret}`);
      assert.deepEqual(await ask(changing), [true, true]);
      assert.ok(token !== undefined && (await changing.adminTokens.authenticate(token)));
      const newId = new Pepper(otherSecret).id ?? '';
      const left = `SELECT token_id AS id FROM tokens WHERE company_id = 'aging' AND pepper_id <> $1
        UNION ALL SELECT key_id FROM company_keys WHERE company_id = 'aging' AND pepper_id <> $1
        UNION ALL SELECT admin_token_id FROM admin_tokens WHERE name = 'aging' AND pepper_id <> $1`;
      while ((await database.query(left, [newId])).length > 0);
      const changed = storeWith(otherSecret);
      assert.deepEqual(await ask(changed), [true, true]);
      assert.ok(await changed.adminTokens.authenticate(token));
      assert.deepEqual(await ask(changing), [true, true], 'with the settings of before');
      const wrong = await changing.tokens.authenticate('aging', [{ relayId, relayAccessToken: `${relayAccessToken}x` }]);
      assert.deepEqual([wrong.ok, await changing.keys.authenticate(`${key}x`)], [false, undefined]);
    });

    it('of another RELAY_SECRET are counted at the start, and differ from wrong tokens; new tokens work', async () => {
      const { relayId, ask, rule } = await fixture(storeWith(secret), 'changed');
      const changed = storeWith(otherSecret);
      assert((await changed.pepperHashes()) >= 2);
      await assert.rejects(ask(changed), { name: 'PepperError', message: new RegExp(`rule ${rule.relayId} of company changed`) });
      const { relayAccessToken = '' } = (await changed.tokens.rotate('changed', relayId, 0, admin)) ?? {};
      assert.deepEqual(await ask(changed, relayAccessToken), [true, false]);
      assert.deepEqual(await ask(changed), [false, false]);
    });
  });
}
