import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Contents, mostContentsOfCompany } from '../../../src/contract/rule-contents.js';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { keptVersions, mostContentsBytes } from '../../../src/store/versions.js';
import { admin, newCompany, testDatabases } from '../../store/databases.js';

const dana = { kind: 'key', keyId: 'k', name: 'dana', companyId: 'acme', role: 'author' } as const;
const relayId = '4711';
const contentsOf = (body: string): Contents => ({ variables: {}, actions: [{ action: 'sendEmails', body }] });

for (const { name, open, skip } of testDatabases) {
  describe(`versions on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
    });
    after(() => store.close());

    async function newRule(companyId?: string, id = relayId): Promise<string> {
      const company = companyId ?? (await newCompany(store));
      await store.rules.create(company, { name: 'Alert', onFailure: 'hold', onUnknown: 'resend', relayId: id }, admin);
      return company;
    }
    /** Saves and publishes contents. */
    async function publish(companyId: string, contents: Contents, { id = relayId, note }: { id?: string; note?: string } = {}) {
      const { revision } = (await store.versions.draft(companyId, id)) ?? assert.fail();
      await store.versions.saveDraft(companyId, id, { revision, contents }, dana);
      const published = await store.versions.publish(companyId, id, { revision: revision + 1, contents, note }, dana);
      return typeof published === 'object' && 'version' in published ? published : assert.fail(JSON.stringify(published));
    }
    const snapshot = async (companyId: string, of = store) => (await of.settings.of(companyId)) ?? assert.fail();
    const publishedIn = async (companyId: string, of = store) => (await snapshot(companyId, of)).contents.get(relayId)?.published;
    const actions = async (companyId: string) =>
      (await store.audit.list({ companyId, limit: 100 })).items.map(({ action }) => action);

    describe('a draft', () => {
      it('is empty at first, and gets a new revision with each save', async () => {
        const companyId = await newRule();
        assert.deepEqual(await store.versions.draft(companyId, relayId), { revision: 0 });
        const contents = { nonsense: [null, 'a\u0000b\ud800'], b: 1, a: 2 };
        const { saved, draft } = (await store.versions.saveDraft(companyId, relayId, { revision: 0, contents }, dana)) ?? {};
        assert.deepEqual([saved, draft?.revision, draft?.updatedBy], [true, 1, 'key dana']);
        assert.equal(JSON.stringify(draft?.contents), JSON.stringify(contents));
        assert.deepEqual(await store.versions.draft(companyId, relayId), draft);
        assert.equal(await store.versions.draft(companyId, '404'), undefined);
        assert.equal(await store.versions.saveDraft(companyId, '404', { revision: 0, contents }, dana), undefined);
      });

      it('of an old revision is not saved: the editor gets the stored draft', async () => {
        const companyId = await newRule();
        const save = (revision: number, body: string) =>
          store.versions.saveDraft(companyId, relayId, { revision, contents: { body } }, dana);
        const first = await Promise.all(['a', 'b', 'c', 'd'].map((body) => save(0, body)));
        assert.equal(first.filter((result) => result?.saved).length, 1);
        const stored = first.find((result) => result?.saved)?.draft;
        for (const result of first) assert.deepEqual(result?.draft, stored);
        const second = await Promise.all(['e', 'f'].map((body) => save(1, body)));
        assert.deepEqual(second.map((result) => result?.saved).sort(), [false, true]);
        assert.equal((await save(7, 'g'))?.saved, false);
        assert.equal((await store.versions.draft(companyId, relayId))?.revision, 2);
      });

      it('changes neither the settings of other processes nor the audit', async () => {
        const companyId = await newRule();
        const state = async () => [await database.query('SELECT revision FROM settings_revision'), await actions(companyId)];
        const before = await state();
        await store.versions.saveDraft(companyId, relayId, { revision: 0, contents: { x: 1 } }, dana);
        assert.deepEqual(await state(), before);
      });
    });

    describe('publishing', () => {
      it('makes numbered versions with a note and a name, in the audit and at once in this process', async () => {
        const companyId = await newRule();
        const other = createStore(database);
        assert.equal(await publishedIn(companyId, other), undefined);
        for (const body of ['one', 'two']) await publish(companyId, contentsOf(body), { note: `why ${body}` });
        const { items, nextCursor } = await store.versions.list(companyId, relayId, { limit: 1 });
        const [newest] = items;
        assert.deepEqual([newest?.version, newest?.note, newest?.publishedBy], [2, 'why two', 'key dana']);
        const older = await store.versions.list(companyId, relayId, { limit: 5, cursor: nextCursor ?? assert.fail() });
        assert.deepEqual([older.items.map(({ version }) => version), older.nextCursor], [[1], undefined]);
        assert.deepEqual((await store.versions.get(companyId, relayId, 1))?.contents, contentsOf('one'));
        assert.equal(await store.versions.get(companyId, relayId, 3), undefined);

        const published = await publishedIn(companyId);
        assert.deepEqual([published?.version, published?.publishedAt], [2, newest?.publishedAt]);
        assert.deepEqual(published?.contents, contentsOf('two'));
        assert.equal((await snapshot(companyId)).rules.get(relayId)?.published, 2);
        assert.equal((await store.rules.get(companyId, relayId))?.published, 2);
        while ((await publishedIn(companyId, other))?.version !== 2) await setImmediate();
        other.settings.close();
        const [entry] = (await store.audit.list({ companyId, limit: 1 })).items;
        assert.deepEqual([entry?.action, entry?.actor], ['rule.publish', dana]);
        assert.deepEqual(entry?.details, { relayId, version: 2, reason: 'why two' });
      });

      it('of an old revision does nothing; two requests at once make one version', async () => {
        const companyId = await newRule();
        const contents = contentsOf('x');
        const publishing = (revision: number) =>
          store.versions.publish(companyId, relayId, { revision, contents, note: 'why' }, dana);
        await store.versions.saveDraft(companyId, relayId, { revision: 0, contents }, dana);
        await store.versions.saveDraft(companyId, relayId, { revision: 1, contents }, dana);
        const conflict = await publishing(1);
        assert.ok(typeof conflict === 'object' && 'conflict' in conflict && conflict.conflict.revision === 2);
        assert.equal(await store.versions.publish(companyId, '404', { revision: 0, contents }, dana), undefined);
        const both = await Promise.all([publishing(2), publishing(2)]);
        const created = both.map((result) => typeof result === 'object' && 'version' in result && result.created);
        assert.deepEqual(created.sort(), [false, true]);
        assert.equal((await store.versions.list(companyId, relayId, { limit: 9 })).items.length, 1);
      });

      it('of two rules at once gives each rule a version 1', async () => {
        const companyId = await newRule();
        await newRule(companyId, '4712');
        const made = await Promise.all([relayId, '4712'].map((id) => publish(companyId, contentsOf(id), { id })));
        assert.deepEqual(
          made.map(({ version }) => version.version),
          [1, 1],
        );
        assert.deepEqual((await snapshot(companyId)).contents.get('4712')?.published?.contents, contentsOf('4712'));
      });

      it('stays in effect when the rule changes; a new rule with the same id has no version', async () => {
        const companyId = await newRule();
        await publish(companyId, contentsOf('old'));
        const before = await publishedIn(companyId);
        await store.rules.update(companyId, relayId, (stored) => ({ ...stored, name: 'Other', published: 7 }), admin);
        assert.equal(await publishedIn(companyId), before, 'the contents were read again');
        await store.rules.delete(companyId, relayId, admin);
        await newRule(companyId);
        assert.equal(await publishedIn(companyId), undefined);
        await publish(companyId, contentsOf('new'));
        assert.deepEqual((await publishedIn(companyId))?.contents, contentsOf('new'));
      });

      it('keeps every character, every null and the order of fields', async () => {
        const companyId = await newRule();
        const contents: Contents = { variables: {}, actions: [{ b: null, action: 'x', a: { z: null, y: 'a\u0000\ud800"\\n' } }] };
        await publish(companyId, contents);
        assert.equal(JSON.stringify((await publishedIn(companyId))?.contents), JSON.stringify(contents));
      });

      it('is limited in the size of a version, and of all rules of a company together', async () => {
        const companyId = await newRule();
        const large = contentsOf('x'.repeat(mostContentsBytes));
        const tooLarge = { revision: 0, contents: large };
        assert.equal(await store.versions.publish(companyId, relayId, tooLarge, dana), 'too large');
        await publish(companyId, contentsOf('small'));
        await newRule(companyId, '4712');
        await publish(companyId, contentsOf('other'), { id: '4712' });
        const fill = 'UPDATE rule_versions SET bytes = $2::int WHERE company_id = $1 AND relay_id = $3';
        await database.query(fill, [companyId, mostContentsOfCompany - 10, '4712']);
        const more = { revision: 1, contents: contentsOf('more') };
        assert.equal(await store.versions.publish(companyId, relayId, more, dana), 'too large');
        assert.equal(await store.versions.setShadow(companyId, relayId, 1, dana), 'too large');
        await database.query(fill, [companyId, 10, '4712']);
        assert.equal(typeof (await store.versions.publish(companyId, relayId, more, dana)), 'object');
      });

      it('deletes the oldest versions, but not the shadow', async () => {
        const companyId = await newRule();
        await publish(companyId, contentsOf('first'));
        await store.versions.setShadow(companyId, relayId, 1, dana);
        const copy = `INSERT INTO rule_versions (company_id, relay_id, version, contents, bytes, encryption_key, published_by)
          SELECT company_id, relay_id, version + more, contents, bytes, encryption_key, 'admin'
          FROM rule_versions, generate_series(1, $2::int) AS more WHERE company_id = $1`;
        await database.query(copy, [companyId, keptVersions]);
        await publish(companyId, contentsOf('last'));
        const left = 'SELECT version FROM rule_versions WHERE company_id = $1 ORDER BY version';
        const rows = await database.query(left, [companyId]);
        assert.deepEqual([rows.length, rows[0], rows[1]], [keptVersions + 1, { version: 1 }, { version: 3 }]);
      });
    });

    describe('going back', () => {
      it('publishes an old version as a new one; a draft without changes follows', async () => {
        const companyId = await newRule();
        await publish(companyId, contentsOf('one'));
        await publish(companyId, contentsOf('two'));
        const back = await store.versions.goBack(companyId, relayId, 1, 'two was wrong', dana);
        assert.ok(typeof back === 'object' && back.created);
        assert.deepEqual([back.version.version, back.version.fromVersion, back.version.note], [3, 1, 'two was wrong']);
        assert.deepEqual((await publishedIn(companyId))?.contents, contentsOf('one'));
        assert.deepEqual((await store.versions.draft(companyId, relayId))?.contents, contentsOf('one'));
        const [entry] = (await store.audit.list({ companyId, limit: 1 })).items;
        assert.deepEqual(entry?.details, { relayId, version: 3, fromVersion: 1, reason: 'two was wrong' });
        const again = await store.versions.goBack(companyId, relayId, 3, undefined, dana);
        assert.ok(typeof again === 'object' && !again.created && again.version.version === 3);
        assert.equal(await store.versions.goBack(companyId, relayId, 9, undefined, dana), undefined);
        assert.equal(await store.versions.goBack(companyId, '404', 1, undefined, dana), undefined);
      });

      it('leaves a draft with changes', async () => {
        const companyId = await newRule();
        await publish(companyId, contentsOf('one'));
        await publish(companyId, contentsOf('two'));
        const { revision = 0 } = (await store.versions.draft(companyId, relayId)) ?? {};
        await store.versions.saveDraft(companyId, relayId, { revision, contents: contentsOf('three') }, dana);
        await store.versions.goBack(companyId, relayId, 1, undefined, dana);
        assert.deepEqual((await store.versions.draft(companyId, relayId))?.contents, contentsOf('three'));
      });
    });

    describe('a shadow', () => {
      it('is an old version, or a version that was never published', async () => {
        const companyId = await newRule();
        await publish(companyId, contentsOf('one'));
        await publish(companyId, contentsOf('two'));
        assert.equal(await store.versions.setShadow(companyId, relayId, 1, dana), true);
        const both = (await snapshot(companyId)).contents.get(relayId);
        assert.deepEqual([both?.published?.version, both?.shadow?.version], [2, 1]);
        const revision = (await store.versions.draft(companyId, relayId))?.revision ?? assert.fail();
        const tried = { revision, contents: contentsOf('three'), as: 'shadow' } as const;
        assert.equal(typeof (await store.versions.publish(companyId, relayId, tried, dana)), 'object');
        const { published, shadow } = (await snapshot(companyId)).contents.get(relayId) ?? {};
        assert.deepEqual([published?.version, shadow?.version, shadow?.contents], [2, 3, contentsOf('three')]);
        assert.equal(await store.versions.setShadow(companyId, relayId, null, dana), true);
        assert.equal((await snapshot(companyId)).contents.get(relayId)?.shadow, undefined);
        for (const [id, version] of [
          [relayId, 9],
          ['404', 1],
          ['404', null],
        ] as const)
          assert.equal(await store.versions.setShadow(companyId, id, version, dana), false);
        assert.deepEqual((await actions(companyId)).slice(0, 3), ['rule.shadow', 'rule.publish', 'rule.shadow']);
      });
    });

    describe('a door (the settings for events)', () => {
      it('has default settings until somebody changes them, and the audit log names the changed settings', async () => {
        const companyId = await newRule();
        const usual = { refuseLists: false, eventDays: 30 };
        assert.deepEqual(await store.rules.getDoor(companyId, relayId), usual);
        assert.deepEqual((await snapshot(companyId)).rules.get(relayId)?.door, usual);
        const signature = { scheme: 'standard-webhooks', key: 'whsec_QUJDREVGR0hJSktMTU5PUA==' } as const;
        await store.rules.setDoor(companyId, relayId, (stored) => ({ ...stored, signature }), dana);
        const set = await store.rules.setDoor(companyId, relayId, (stored) => ({ ...stored, dedupeBy: 'event.id' }), dana);
        assert.deepEqual(set, { ...usual, signature, dedupeBy: 'event.id' });
        assert.deepEqual(await store.rules.getDoor(companyId, relayId), set);
        assert.deepEqual((await snapshot(companyId)).rules.get(relayId)?.door, set);
        const { items } = await store.audit.list({ companyId, limit: 2 });
        assert.deepEqual(
          items.map(({ details }) => details.changed),
          [['dedupeBy'], ['signature']],
        );
        assert.equal(await store.rules.getDoor(companyId, '404'), undefined);
        assert.equal(await store.rules.setDoor(companyId, '404', (stored) => stored, dana), undefined);
      });
    });
  });
}
