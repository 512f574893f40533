import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NewRule } from '../../../src/store/companies.js';
import type { Database } from '../../../src/store/database.js';
import type { Turn } from '../../../src/store/notices.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { admin, keyring, newCompany, testDatabases } from '../../store/databases.js';

/** In 600 seconds, this budget allows three single notices and one digest. */
const budget = { notices: 4, seconds: 600 };

for (const { name, open, skip } of testDatabases) {
  describe(`the budget of notices on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database, { keyring });
    });
    after(() => store.close());

    const company = () => newCompany(store);
    const turn = (companyId: string, key: string, causeId = key): Promise<Turn> => {
      const facts = { relayId: '1', kind: 'failed', at: '2026-07-01T12:00:00.000Z', title: `of ${key}`, url: 'https://x' };
      return store.notices.turn(companyId, { noticeKey: key, causeId, ...facts }, budget);
    };
    const turns = async (companyId: string, keys: string[]) => {
      const told = [];
      for (const key of keys) told.push((await turn(companyId, key)).told);
      return told;
    };
    /** Moves the clock forward by this time. */
    const pass = (companyId: string, seconds: number) =>
      database.query(
        `UPDATE notices SET came_at = came_at - $2::int * interval '1 second', told_at = told_at - $2::int * interval '1 second'
         WHERE company_id = $1`,
        [companyId, seconds],
      );
    const digest = (of: Turn) =>
      of.told === 'digest' ? of.joined.map(({ title, count }) => [title, count]) : assert.fail(of.told);

    it('allows a number of single notices, however often the relay tries to send each of them', async () => {
      const companyId = await company();
      assert.deepEqual(await turns(companyId, ['a', 'b', 'a', 'c', 'd', 'a', 'd']), [
        ...['alone', 'alone', 'alone', 'alone'],
        ...['later', 'alone', 'later'],
      ]);
      assert.deepEqual(await turns(await company(), ['a']), ['alone'], 'another company has its own');
    });

    it('joins all waiting notices in the next allowed one: the first notice of each cause, and the count; nothing is sent twice', async () => {
      const companyId = await company();
      await turns(companyId, ['a', 'b', 'c', 'd', 'e']);
      await turn(companyId, 'f', 'd');
      const [later] = [await turn(companyId, 'e')];
      assert.ok(later.told === 'later' && later.waitMs > 100_000 && later.waitMs <= 150_000, JSON.stringify(later));
      await pass(companyId, 150);
      const told = await turn(companyId, 'e');
      assert.deepEqual(digest(told).sort(), [
        ['of d', 2],
        ['of e', 1],
      ]);
      assert.deepEqual(await turn(companyId, 'e'), told, 'the same when it is tried again');
      assert.deepEqual(await turns(companyId, ['d', 'f']), ['elsewhere', 'elsewhere']);
    });

    it('sends waiting notices before new notices, and allows single notices again after the period', async () => {
      const companyId = await company();
      await turns(companyId, ['a', 'b', 'c', 'd']);
      await pass(companyId, 601);
      assert.deepEqual(digest(await turn(companyId, 'g')).sort(), [
        ['of d', 1],
        ['of g', 1],
      ]);
      assert.deepEqual(await turns(companyId, ['h', 'i', 'j', 'k']), ['alone', 'alone', 'alone', 'later']);
      await pass(companyId, 599);
      assert.equal((await turn(companyId, 'k')).told, 'later', 'the last digest is not so long ago');
      await pass(companyId, 2);
      assert.deepEqual(digest(await turn(companyId, 'k')), [['of k', 1]]);
    });

    it('gives a digest to one of several simultaneous requests', async () => {
      const companyId = await company();
      const keys = ['d', 'e', 'f', 'g', 'h'];
      await turns(companyId, ['a', 'b', 'c', ...keys]);
      await pass(companyId, 150);
      const told = (await Promise.all(keys.map((key) => turn(companyId, key)))).map(({ told }) => told);
      assert.deepEqual(told.sort(), ['digest', 'elsewhere', 'elsewhere', 'elsewhere', 'elsewhere']);
    });

    it('limits the number of causes in a digest; the next digest has the remaining causes', async () => {
      const companyId = await company();
      await turns(companyId, ['a', 'b', 'c']);
      const many = Array.from({ length: 301 }, (_, number) => `n${number}`);
      await turns(companyId, many);
      await pass(companyId, 150);
      const first = digest(await turn(companyId, 'n300')).map(([title]) => title);
      await pass(companyId, 600);
      const second = digest(await turn(companyId, 'n299')).map(([title]) => title);
      assert.deepEqual([first.length, second.length], [300, 1]);
      assert.deepEqual([...first, ...second].sort(), many.map((key) => `of ${key}`).sort());
    });

    it('keeps waiting notices encrypted', async () => {
      const companyId = await company();
      await turns(companyId, ['a', 'b', 'c', 'd']);
      const rows = await database.query('SELECT * FROM notices WHERE company_id = $1', [companyId]);
      assert.ok(rows.length === 4 && !JSON.stringify(rows).includes('of d'));
    });

    it('counts nothing for a deleted company', async () => {
      assert.deepEqual(await turns('nobody', ['a', 'b', 'c', 'd', 'e']), ['alone', 'alone', 'alone', 'alone', 'alone']);
    });
  });

  describe(`contacts on ${name}`, { skip }, () => {
    let store: Store;
    let database: Database;
    before(async () => {
      database = await open();
      store = createStore(database, { keyring });
    });
    after(() => store.close());
    let companies = 0;
    async function company(...emails: string[]) {
      companies += 1;
      const companyId = `acme-${companies}`;
      const dana = { kind: 'key', keyId: 'k1', name: 'dana', companyId, role: 'manage' } as const;
      const set = (actor: typeof dana | typeof admin, ...emails: string[]) =>
        store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC', notify: { emails } }), actor);
      await set(admin, ...emails);
      const unconfirmed = async () => (await store.contacts.unconfirmed(companyId)).map(({ contact }) => contact).sort();
      const idOf = async (contact: string) => {
        const found = (await store.contacts.unconfirmed(companyId)).find((one) => one.contact === contact);
        return found?.contactId ?? assert.fail(contact);
      };
      return { companyId, dana, set, unconfirmed, idOf };
    }

    it('are confirmed if an admin token set them, not if a key did', async () => {
      const { companyId, dana, set, unconfirmed } = await company('a@x.org');
      assert.deepEqual(await unconfirmed(), []);
      await set(dana, 'a@x.org', 'b@x.org');
      assert.deepEqual(await unconfirmed(), ['b@x.org']);
      const webhookUrl = 'https://chat.example/hook';
      const rule: NewRule = {
        name: 'Rule',
        onFailure: 'hold',
        onUnknown: 'resend',
        notify: { emails: ['a@x.org', 'c@x.org'], webhookUrl },
      };
      const made = await store.rules.create(companyId, rule, dana);
      assert.ok(typeof made === 'object');
      const [b, c, webhook = '', ...more] = await unconfirmed();
      assert.deepEqual([b, c, more], ['b@x.org', 'c@x.org', []]);
      assert.match(webhook, /^webhook [0-9a-f]{8} at https:\/\/chat\.example$/);
      await set(admin, 'a@x.org');
      await set(admin, 'a@x.org', 'b@x.org');
      assert.deepEqual((await unconfirmed()).includes('b@x.org'), false, 'an admin token has set it now');
      const rows = await database.query('SELECT * FROM unconfirmed_contacts');
      assert.ok(rows.length > 0 && !JSON.stringify(rows).includes('x.org'), 'encrypted');
    });

    it('get the first notice of each cause until they confirm, ten a day at most; setting them again changes nothing', async () => {
      const { companyId, dana, set, unconfirmed, idOf } = await company('a@x.org');
      await set(dana, 'a@x.org', 'b@x.org');
      const contactId = await idOf('b@x.org');
      const first = (key: string, ...causes: string[]) => store.contacts.firstOf(contactId, causes, key);
      assert.deepEqual(await first('n1', 'c1'), ['c1']);
      assert.deepEqual(await first('n1', 'c1'), ['c1'], 'another attempt');
      assert.deepEqual(await first('n2', 'c1'), []);
      assert.deepEqual(await first('n3', 'c1', 'c2', 'c3'), ['c2', 'c3']);
      for (let more = 3; more <= 10; more += 1) assert.equal((await first(`m${more}`, `d${more}`)).length, 1, `${more}`);
      assert.deepEqual(await first('m11', 'd11'), []);
      await set(dana, 'a@x.org');
      await set(dana, 'a@x.org', 'b@x.org');
      assert.deepEqual([await idOf('b@x.org'), await first('m12', 'd12')], [contactId, []]);
      assert.equal(await store.contacts.confirm(contactId), true);
      assert.equal(await store.contacts.confirm(contactId), false);
      assert.deepEqual(await unconfirmed(), []);
      assert.deepEqual(await first('m13', 'c1'), ['c1'], 'a confirmed contact gets all notices');
      const { items } = await store.audit.list({ companyId, limit: 1 });
      assert.deepEqual([items[0]?.action, items[0]?.actor], ['contact.confirm', { kind: 'link', companyId, contact: 'b@x.org' }]);
    });

    it('are limited in number while unconfirmed', async () => {
      const { dana, set } = await company('a@x.org');
      const lot = (number: number) => Array.from({ length: 20 }, (_, place) => `s${number}-${place}@x.org`);
      for (let number = 0; number < 5; number += 1) await set(dana, ...lot(number));
      await assert.rejects(set(dana, 'one-more@x.org'), /100 unconfirmed contacts within a day/);
      await set(admin, 'one-more@x.org');
    });
  });
}
