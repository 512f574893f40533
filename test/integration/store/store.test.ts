import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Actor } from '../../../src/contract/audit.js';
import type { Company } from '../../../src/contract/company.js';
import { tokenPurposes } from '../../../src/contract/credential.js';
import type { NewRule } from '../../../src/store/companies.js';
import { type Database, type Queries, read } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';

const admin: Actor = { kind: 'admin' };
const plainRule: NewRule = { name: 'Alert', onFailure: 'hold', onUnknown: 'resend' };

for (const { name, open, skip } of testDatabases) {
  describe(`store on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
    });
    after(() => store.close());

    async function company(companyId: string, settings: Partial<Company> = {}) {
      await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC', ...settings }), admin);
    }
    async function rule(companyId: string, given: Partial<NewRule> = {}) {
      const made = await store.rules.create(companyId, { ...plainRule, ...given }, admin);
      assert.ok(typeof made === 'object', String(made));
      return made;
    }

    it('answers a ping', () => store.ping());

    describe('companies', () => {
      it('keep every setting as given', async () => {
        const settings: Partial<Company> = {
          timeZone: 'Europe/Berlin',
          notify: { emails: ['ada@example.com'], webhookUrl: 'https://hooks.example.com/x' },
          platform: { kind: 'http', baseUrl: 'https://p.example.com', auth: { type: 'headers', headers: { 'X-Key': 'ü"\\' } } },
          ticketing: { kind: 'http', baseUrl: 'https://t.example.com', auth: { type: 'basic', username: 'u', password: 'p' } },
          mail: { from: 'Ada <ada@example.com>', smtpUrl: 'smtps://u:p@mail.example.com' },
        };
        await company('settings', settings);
        const { createdAt, updatedAt, ...stored } = (await store.companies.get('settings')) ?? assert.fail();
        assert.ok(Date.parse(createdAt) > 0 && Date.parse(updatedAt) > 0);
        assert.deepEqual(stored, { companyId: 'settings', name: 'settings', ...settings });
      });

      it('stay unchanged if the change throws', async () => {
        const refuse = () => {
          throw new Error('no');
        };
        await assert.rejects(store.companies.put('refused', refuse, admin), /^Error: no$/);
        assert.equal(await store.companies.get('refused'), undefined);
      });

      it('are created once if several requests arrive at once; each request sees the result of the request before', async () => {
        const seen: (string | undefined)[] = [];
        const put = (name: string) =>
          store.companies.put(
            'race',
            (stored) => {
              seen.push(stored?.name);
              return { companyId: 'race', name, timeZone: 'UTC' };
            },
            admin,
          );
        const puts = await Promise.all(['a', 'b', 'c', 'd'].map(put));
        assert.equal(puts.filter(({ created }) => created).length, 1);
        assert.equal(seen.filter((before) => before === undefined).length, 1);
        assert.equal(new Set(seen).size, 4);
      });

      it('are listed page by page, in the order of their ids', async () => {
        for (const id of ['list-b', 'list-B', 'list-a', 'list_a']) await company(id);
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const { items, nextCursor } = await store.companies.list({ limit: 2, cursor });
          assert.ok(items.length <= 2);
          ids.push(...items.map(({ companyId }) => companyId));
          cursor = nextCursor;
        } while (cursor !== undefined);
        assert.deepEqual(ids, [...new Set(ids)].sort());
        assert.deepEqual(
          ids.filter((id) => /^list/.test(id)),
          ['list-B', 'list-a', 'list-b', 'list_a'],
        );
      });

      it('are deleted with their rules, tokens and keys, and the audit records who did it', async () => {
        await company('gone');
        const { rule: made, relayAccessToken } = await rule('gone');
        const key = await store.keys.create('gone', 'console', admin);
        assert.equal(await store.companies.delete('gone', admin), true);
        assert.equal(await store.companies.delete('gone', admin), false);
        assert.equal(await store.rules.get('gone', made.relayId), undefined);
        assert.deepEqual(await store.tokens.authenticate('gone', [{ relayId: made.relayId, relayAccessToken }]), {
          ok: false,
          refusals: ['unknown'],
        });
        assert.equal(await store.keys.authenticate(typeof key === 'object' ? key.key : ''), undefined);
        const { items } = await store.audit.list({ companyId: 'gone', limit: 10 });
        assert.deepEqual(
          items.map(({ action }) => action),
          ['company.delete', 'key.create', 'rule.create', 'company.create'],
        );
      });

      it('leave nothing in any table, except their audit entries and the mark for other processes', async () => {
        await company('whole');
        const { rule: made } = await rule('whole');
        const key = await store.keys.create('whole', 'console', admin);
        assert.ok(typeof key === 'object');
        await store.sessions.begin({ kind: 'key', keyId: key.keyId, name: 'console', companyId: 'whole', role: 'steer' });
        await store.people.set('whole', { email: 'ada@whole.example', role: 'read' }, admin);
        await store.pauses.begin('whole', { what: 'all' }, admin);
        store.usage.add('whole', { actions: 1, recipients: 1 });
        await store.usage.settle();
        const problem = { type: '/problems/x', title: 'x', status: 400, detail: 'x', instance: '/x' };
        const refused = { reason: 'invalid-chain', problem, relayIds: [made.relayId], elements: [] } as const;
        await store.rejected.keep({ ...refused, relayIds: [made.relayId], companyId: 'whole', receivedAt: new Date() });
        const why = { companyId: 'whole', causeId: 'c', reason: 'PlatformError', message: 'x' };
        await store.causes.hold(why, { chainId: 'c', index: 0, relayId: made.relayId, since: new Date().toISOString() });
        const budget = { notices: 20, seconds: 600 };
        const notice = { noticeKey: 'k', causeId: 'c', relayId: made.relayId, kind: 'failed', at: '', title: 'x', url: 'x' };
        await store.notices.turn('whole', notice, budget);
        const dana = { kind: 'key', keyId: key.keyId, name: 'console', companyId: 'whole', role: 'manage' } as const;
        const notify = { emails: ['a@x.example'] };
        await store.companies.put('whole', () => ({ companyId: 'whole', name: 'whole', timeZone: 'UTC', notify }), dana);
        const { relayId } = made;
        const contents = { variables: {}, actions: [{ action: 'sendEmails' }] };
        await store.versions.saveDraft('whole', relayId, { revision: 0, contents }, admin);
        await store.versions.publish('whole', relayId, { revision: 1, contents, note: 'x' }, admin);
        await store.rules.setDoor('whole', relayId, (door) => ({ ...door, dedupeBy: 'id' }), admin);
        await store.tokens.rotate('whole', relayId, 0, admin, 'event');
        const ids = { relayIds: [relayId], assignmentIds: ['1'], ticketIds: ['T'] };
        store.chains.add({ companyId: 'whole', chainId: 'c', receivedAt: new Date().toISOString(), status: 'running', ...ids });
        await store.chains.flush();
        const received = { relayId, eventId: 'e', receivedAt: new Date().toISOString(), bytes: 2, body: '{}', hash: 'h' };
        const event = { ...received, companyId: 'whole', outcome: 'chain', version: 1 } as const;
        store.events.add(event);
        await store.events.flush();
        const ofCompany = `SELECT table_name AS "tableName" FROM information_schema.columns WHERE column_name = 'company_id'`;
        const tables = (await read(database, z.object({ tableName: z.string() }), ofCompany))
          .map(({ tableName }) => tableName)
          .filter((name) => name !== 'service_keys'); // Service keys belong to no company.
        const rowsIn = async (table: string, where: string) =>
          (await database.query(`SELECT 1 FROM ${table} WHERE ${where}`, [])).length;
        const filled = async () => {
          const counts = tables.map(async (table) => ((await rowsIn(table, "company_id = 'whole'")) > 0 ? [table] : []));
          const ofKey = (await rowsIn('sessions', `key_id = '${key.keyId}'`)) > 0 ? ['sessions'] : [];
          return [...(await Promise.all(counts)).flat(), ...ofKey].sort();
        };
        assert.deepEqual(await filled(), [...tables, 'sessions'].sort());
        assert.equal(await store.companies.delete('whole', admin), true);
        store.events.add({ ...event, eventId: 'late' });
        await store.events.flush();
        assert.deepEqual(await filled(), ['audit', 'settings_changes']);
      });
    });

    describe('rules', () => {
      it('get an id of digits and a token, or keep the given ones', async () => {
        await company('takeover');
        const made = await rule('takeover');
        assert.match(made.rule.relayId, /^[1-9]\d{11}$/);
        assert.match(made.relayAccessToken, /^rlt_[0-9A-Za-z]{36}$/);
        const taken = await rule('takeover', { relayId: '007', relayAccessToken: 'päss "word"' });
        assert.deepEqual([taken.rule.relayId, taken.relayAccessToken], ['007', 'päss "word"']);
        const credentials = [made, taken].map(({ rule, relayAccessToken }) => ({ relayId: rule.relayId, relayAccessToken }));
        assert.deepEqual(await store.tokens.authenticate('takeover', [...credentials, ...credentials]), {
          ok: true,
          tokenIds: [made.tokenId, taken.tokenId],
        });
      });

      it('need a unique id within the company only', async () => {
        await company('one');
        await company('two');
        await rule('one', { relayId: '1' });
        assert.equal(await store.rules.create('one', { ...plainRule, relayId: '1' }, admin), 'relayId taken');
        await rule('two', { relayId: '1' });
        assert.equal(await store.rules.create('nobody', plainRule, admin), 'unknown company');
      });

      it('change only in the given fields, and the audit names them', async () => {
        await company('change');
        const { relayId } = (await rule('change', { notify: { webhookUrl: 'https://hooks.example.com/secret' } })).rule;
        const changed = await store.rules.update(
          'change',
          relayId,
          ({ notify, ...stored }) => ({ ...stored, enabled: false, onFailure: 'continue' }),
          admin,
        );
        assert.deepEqual(
          [changed?.enabled, changed?.onFailure, changed?.notify, changed?.name],
          [false, 'continue', undefined, 'Alert'],
        );
        const { items } = await store.audit.list({ companyId: 'change', limit: 1 });
        assert.deepEqual(items[0]?.details, { relayId, changed: ['enabled', 'onFailure', 'notify'] });
        assert.equal(await store.rules.update('change', '404', (stored) => stored, admin), undefined);
      });

      it('are listed page by page, in the order of creation', async () => {
        await company('pages');
        for (const relayId of ['3', '1', '2']) await rule('pages', { relayId });
        const first = await store.rules.list('pages', { limit: 2 });
        assert.deepEqual(
          first.items.map(({ relayId }) => relayId),
          ['3', '1'],
        );
        const second = await store.rules.list('pages', { limit: 2, cursor: first.nextCursor ?? assert.fail() });
        assert.deepEqual([second.items.map(({ relayId }) => relayId), second.nextCursor], [['2'], undefined]);
      });
    });

    describe('tokens', () => {
      it('are refused with a reason for each', async () => {
        await company('why');
        await company('other');
        const right = await rule('why', { relayId: '1' });
        const other = await rule('other', { relayId: '9' });
        const disabled = await rule('why', { relayId: '2' });
        await store.rules.update('why', '2', (stored) => ({ ...stored, enabled: false }), admin);
        const revoked = await rule('why', { relayId: '3' });
        await store.tokens.revoke('why', '3', revoked.tokenId, admin);
        const rotated = await rule('why', { relayId: '4' });
        const fresh = await store.tokens.rotate('why', '4', 0, admin);
        const inGrace = await rule('why', { relayId: '5' });
        await store.tokens.rotate('why', '5', 3600, admin);
        const bare = await rule('why', { relayId: '6' });
        await database.query('DELETE FROM tokens WHERE token_id = $1', [bare.tokenId]);

        const cases: [string, string, string | undefined][] = [
          ['1', right.relayAccessToken, undefined],
          ['1', `${right.relayAccessToken} `, 'wrong'],
          ['1', '', 'wrong'],
          ['1', fresh?.relayAccessToken ?? '', 'wrong'],
          ['9', other.relayAccessToken, 'unknown'],
          ['2', disabled.relayAccessToken, 'disabled'],
          ['2', 'stranger', 'wrong'],
          ['3', revoked.relayAccessToken, 'revoked'],
          ['4', rotated.relayAccessToken, 'expired'],
          ['4', fresh?.relayAccessToken ?? '', undefined],
          ['5', inGrace.relayAccessToken, undefined],
          ['6', bare.relayAccessToken, 'wrong'],
          ['01', right.relayAccessToken, 'unknown'],
          ['\0', 'x', 'unknown'],
          ['1'.repeat(33), 'x', 'unknown'],
          ['', '', 'unknown'],
        ];
        const credentials = cases.map(([relayId, relayAccessToken]) => ({ relayId, relayAccessToken }));
        assert.deepEqual(await store.tokens.authenticate('why', credentials), {
          ok: false,
          refusals: cases.map(([, , why]) => why),
        });
        for (const [index, [, , why]] of cases.entries()) {
          const said = await store.tokens.authenticate('why', credentials.slice(index, index + 1));
          assert.deepEqual([said.ok, !said.ok && said.refusals], why === undefined ? [true, false] : [false, [why]]);
        }
        for (const companyId of ['nobody', '', '\0', 'a'.repeat(65)]) {
          assert.deepEqual(await store.tokens.authenticate(companyId, credentials.slice(0, 1)), {
            ok: false,
            refusals: ['unknown'],
          });
        }
        assert.deepEqual(await store.tokens.authenticate('why', []), { ok: false, refusals: [] });
      });

      it('are checked without a query once the settings are known, and every refusal costs the same', async () => {
        await company('queries');
        const { relayAccessToken } = await rule('queries', { relayId: '1' });
        const asked: string[] = [];
        const counting: Queries = {
          query(text, parameters) {
            asked.push(text);
            return database.query(text, parameters);
          },
        };
        const counted = createStore({ ...database, ...counting });
        // The store reads its settings once a second. These queries belong to no request, so the test stops them.
        counted.settings.close();
        await counted.usage.close();
        const right = { relayId: '1', relayAccessToken };
        // The first use of a token causes one more query, which records the use.
        await counted.tokens.authenticate('queries', [right]);
        await eventually(async () => (await store.tokens.list('queries', '1'))?.[0]?.lastUsedAt);
        for (const [companyId, credentials, queries] of [
          ['queries', [right], 0],
          ['queries', Array.from({ length: 100 }, () => right), 0],
          ['queries', [right, { relayId: '2', relayAccessToken: 'x' }], 1],
          ['queries', [{ relayId: '1', relayAccessToken: 'x' }], 1],
          ['nobody', [right], 1],
          ['\0', [{ relayId: '\0', relayAccessToken: '\0' }], 1],
        ] as const) {
          await counted.settings.refresh();
          asked.length = 0;
          await counted.tokens.authenticate(companyId, credentials);
          assert.equal(asked.length, queries);
          const [{ relayId, relayAccessToken: token }] = credentials;
          await counted.settings.refresh();
          asked.length = 0;
          await counted.tokens.authenticate(companyId, [{ relayId, relayAccessToken: token }], tokenPurposes);
          assert.equal(asked.length, relayId === '1' && token === relayAccessToken && companyId === 'queries' ? 0 : 1);
        }
      });

      it('change at once in the process that changes them, and within two seconds in other processes', async () => {
        await company('elsewhere');
        const other = createStore(database);
        const { relayAccessToken, tokenId } = await rule('elsewhere', { relayId: '1' });
        const right = [{ relayId: '1', relayAccessToken }];
        assert.deepEqual(await other.tokens.authenticate('elsewhere', right), { ok: true, tokenIds: [tokenId] });
        await store.tokens.revoke('elsewhere', '1', tokenId, admin);
        assert.deepEqual(await store.tokens.authenticate('elsewhere', right), { ok: false, refusals: ['revoked'] });
        await eventually(async () => !(await other.tokens.authenticate('elsewhere', right)).ok);
        const fresh = await store.tokens.rotate('elsewhere', '1', 0, admin);
        const credentials = [{ relayId: '1', relayAccessToken: fresh?.relayAccessToken ?? '' }];
        assert.ok((await other.tokens.authenticate('elsewhere', credentials)).ok);
        await store.companies.delete('elsewhere', admin);
        await eventually(async () => (await other.settings.of('elsewhere')) === undefined);
        other.settings.close();
      });

      it('are stored as hashes only', async () => {
        await company('hashes');
        const { relayAccessToken } = await rule('hashes');
        const key = await store.keys.create('hashes', 'console', admin);
        assert.ok(typeof key === 'object');
        for (const table of ['companies', 'rules', 'tokens', 'company_keys', 'audit']) {
          const [dump] = await database.query(`SELECT coalesce(string_agg(t::text, ' '), '') AS dump FROM ${table} t`);
          const text = JSON.stringify(dump);
          for (const secret of [relayAccessToken, key.key]) {
            assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('hex')), `${table} holds a secret`);
          }
        }
      });

      it('record their use at most once a minute', async () => {
        await company('used');
        const { rule: made, relayAccessToken, tokenId } = await rule('used');
        const use = () => store.tokens.authenticate('used', [{ relayId: made.relayId, relayAccessToken }]);
        const lastUse = async () => (await store.tokens.list('used', made.relayId))?.[0]?.lastUsedAt;
        assert.equal(await lastUse(), undefined);
        await use();
        const first = await eventually(lastUse);
        await use();
        assert.deepEqual(await lastUse(), first);
        await database.query(`UPDATE tokens SET last_used_at = last_used_at - interval '61 seconds' WHERE token_id = $1`, [
          tokenId,
        ]);
        // This store stands for another process, which must first read the time of the last use.
        const other = createStore(database);
        await other.tokens.authenticate('used', [{ relayId: made.relayId, relayAccessToken }]);
        other.settings.close();
        assert.ok(
          (await eventually(async () => Date.parse((await lastUse()) ?? '') >= Date.parse(first) && lastUse())) !== undefined,
        );
      });

      it('are accepted even if their use cannot be recorded', async () => {
        await company('unnoted');
        const { rule: made, relayAccessToken } = await rule('unnoted');
        const failing = createStore({
          ...database,
          query: (text, parameters) =>
            /^UPDATE/.test(text) ? Promise.reject(new Error('read-only')) : database.query(text, parameters),
        });
        assert.ok((await failing.tokens.authenticate('unnoted', [{ relayId: made.relayId, relayAccessToken }])).ok);
        await setImmediate();
      });

      it('of events are refused for lists, and are rotated and revoked separately', async () => {
        await company('events');
        const { tokenId, relayAccessToken } = await rule('events', { relayId: '1' });
        await rule('events', { relayId: '2' });
        const first = (await store.tokens.rotate('events', '1', 3600, admin, 'event')) ?? assert.fail();
        const second = (await store.tokens.rotate('events', '1', 0, admin, 'event')) ?? assert.fail();
        assert.match(second.relayAccessToken, /^rle_[0-9A-Za-z]{36}$/);
        const list = (await store.tokens.list('events', '1')) ?? [];
        assert.deepEqual(
          list.map(({ purpose, state }) => [purpose, state]),
          [
            ['event', 'active'],
            ['event', 'expired'],
            ['rule', 'active'],
          ],
        );
        const asList = (token: string) => store.tokens.authenticate('events', [{ relayId: '1', relayAccessToken: token }]);
        assert.deepEqual(await asList(second.relayAccessToken), { ok: false, refusals: ['wrong'] });
        assert.deepEqual(await asList(relayAccessToken), { ok: true, tokenIds: [tokenId] });
        const asEvent = (relayId: string, token: string) =>
          store.tokens.authenticate('events', [{ relayId, relayAccessToken: token }], tokenPurposes);
        assert.deepEqual(await asEvent('1', relayAccessToken), { ok: true, tokenIds: [tokenId] });
        assert.deepEqual(await asEvent('1', second.relayAccessToken), { ok: true, tokenIds: [second.tokenId] });
        for (const [relayId, token, refusal] of [
          ['1', first.relayAccessToken, 'expired'],
          ['1', 'x', 'wrong'],
          ['2', second.relayAccessToken, 'wrong'],
          ['3', second.relayAccessToken, 'unknown'],
        ] as const)
          assert.deepEqual(await asEvent(relayId, token), { ok: false, refusals: [refusal] });
        const known = await store.tokens.recognizer('events', true);
        assert.deepEqual([known.of(second.relayAccessToken).length, known.of(relayAccessToken).length], [0, 1]);
        await store.tokens.rotate('events', '1', 0, admin);
        assert.ok((await asEvent('1', second.relayAccessToken)).ok);
        assert.deepEqual(await asEvent('1', relayAccessToken), { ok: false, refusals: ['expired'] });
        await store.tokens.revoke('events', '1', second.tokenId, admin);
        assert.deepEqual(await asEvent('1', second.relayAccessToken), { ok: false, refusals: ['revoked'] });
        await store.rules.update('events', '1', (stored) => ({ ...stored, enabled: false }), admin);
        const third = (await store.tokens.rotate('events', '1', 0, admin, 'event')) ?? assert.fail();
        assert.deepEqual(await asEvent('1', third.relayAccessToken), { ok: false, refusals: ['disabled'] });
      });

      it('that expire are never extended; the last 20 expired tokens are remembered', async () => {
        await company('rotation');
        const { rule: made, relayAccessToken } = await rule('rotation');
        const { relayId } = made;
        await store.tokens.rotate('rotation', relayId, 60, admin);
        await store.tokens.rotate('rotation', relayId, 3600, admin);
        const [newest, second, oldest] = (await store.tokens.list('rotation', relayId)) ?? [];
        assert.equal(newest?.expiresAt, undefined);
        assert.ok(Date.parse(second?.expiresAt ?? '') - Date.parse(oldest?.expiresAt ?? '') > 3_000_000);
        for (let i = 0; i < 22; i++) await store.tokens.rotate('rotation', relayId, 0, admin);
        const tokens = (await store.tokens.list('rotation', relayId)) ?? [];
        assert.deepEqual([tokens.length, tokens.filter(({ state }) => state === 'active').length], [21, 1]);
        assert.deepEqual(await store.tokens.authenticate('rotation', [{ relayId, relayAccessToken }]), {
          ok: false,
          refusals: ['wrong'],
        });
        assert.equal(await store.tokens.rotate('rotation', '404', 0, admin), undefined);
      });

      it('are revoked once, and only by their own rule', async () => {
        await company('revoking');
        const one = await rule('revoking', { relayId: '1' });
        await rule('revoking', { relayId: '2' });
        assert.equal(await store.tokens.revoke('revoking', '2', one.tokenId, admin), false);
        assert.equal(await store.tokens.revoke('revoking', '1', one.tokenId, admin), true);
        const [revoked] = (await store.tokens.list('revoking', '1')) ?? [];
        assert.equal(await store.tokens.revoke('revoking', '1', one.tokenId, admin), true);
        assert.deepEqual(await store.tokens.list('revoking', '1'), [revoked]);
        assert.equal(revoked?.state, 'revoked');
      });
    });

    describe('keys', () => {
      it('belong to one company, have a unique name, and end when they are deleted', async () => {
        await company('keyed');
        const made = await store.keys.create('keyed', 'console', admin);
        assert.ok(typeof made === 'object');
        assert.match(made.key, /^rlk_[0-9A-Za-z]{36}$/);
        assert.deepEqual(await store.keys.authenticate(made.key), {
          keyId: made.keyId,
          name: 'console',
          companyId: 'keyed',
          role: 'steer',
        });
        assert.equal(await store.keys.authenticate(`${made.key}x`), undefined);
        assert.equal(await store.keys.create('keyed', 'console', admin), 'name taken');
        assert.equal(await store.keys.create('nobody', 'console', admin), 'unknown company');
        await eventually(async () => (await store.keys.list('keyed'))?.[0]?.lastUsedAt);
        assert.equal(await store.keys.delete('other', made.keyId, admin), false);
        assert.equal(await store.keys.delete('keyed', made.keyId, admin), true);
        assert.equal(await store.keys.authenticate(made.key), undefined);
        assert.equal(await store.keys.list('nobody'), undefined);
      });
    });

    describe('audit', () => {
      it('says who did what, the newest first, page by page', async () => {
        const key: Actor = { kind: 'key', keyId: 'k1', name: 'console', companyId: 'audited', role: 'steer' };
        for (const index of [0, 1, 2]) {
          await store.audit.record({ actor: key, action: 'chain.retry', companyId: 'audited', details: { chainId: 'c', index } });
        }
        const first = await store.audit.list({ companyId: 'audited', limit: 2 });
        const second = await store.audit.list({ companyId: 'audited', limit: 2, cursor: first.nextCursor ?? assert.fail() });
        assert.deepEqual(
          [...first.items, ...second.items].map(({ details }) => details.index),
          [2, 1, 0],
        );
        assert.equal(second.nextCursor, undefined);
        assert.deepEqual(first.items[0]?.actor, key);
        assert.ok((await store.audit.list({ limit: 200 })).items.length > 3);
      });
    });
  });
}

/** Waits for a value that is neither undefined nor false. */
async function eventually<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    await setImmediate();
  }
}
