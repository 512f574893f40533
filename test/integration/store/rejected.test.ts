import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '../../../src/store/database.js';
import { keptOfReason, type NewRejectedRequest } from '../../../src/store/rejected.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';

const admin = { kind: 'admin' } as const;

for (const { name, open, skip } of testDatabases) {
  describe(`rejected requests on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
      for (const companyId of ['acme', 'other', 'bounds', 'age'])
        await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
    });
    after(() => store.close());

    const request = (companyId: string, more: Partial<NewRejectedRequest> = {}): NewRejectedRequest => ({
      companyId,
      receivedAt: new Date(),
      reason: 'invalid-chain',
      problem: { type: '/problems/invalid-chain', title: 'Invalid chain', status: 400, detail: 'no' },
      relayIds: ['1'],
      elements: [],
      ...more,
    });
    const keep = async (given: NewRejectedRequest) => (await store.rejected.keep(given)) ?? assert.fail();
    const kept = async (given: NewRejectedRequest) => (await keep(given)).rejectedId;
    const listed = async (companyId: string) => (await store.rejected.list(companyId, { limit: 1000 })).items;

    it('are stored unchanged, field by field', async () => {
      const given = request('acme', {
        relayIds: ['1', '2'],
        idempotencyKey: 'key',
        problem: { ...request('acme').problem, errors: [{ pointer: '/0', detail: 'ünïcode "x"' }] },
        elements: [{ z: 1, a: { nested: [null, true, 1.5, '🎉'] } }, { b: '' }],
      });
      const rejectedId = await kept(given);
      const stored = (await store.rejected.get('acme', rejectedId)) ?? assert.fail();
      const { companyId, receivedAt, ...rest } = given;
      assert.deepEqual(stored, { rejectedId, receivedAt: receivedAt.toISOString(), repeats: 0, ...rest });
      assert.deepEqual(Object.keys((stored.elements[0] ?? {}) as object), ['z', 'a']);
      assert.equal(await store.rejected.get('other', rejectedId), undefined);
      assert.deepEqual(await listed('other'), []);
    });

    it('need an existing company, and are deleted with it', async () => {
      assert.equal(await store.rejected.keep(request('nobody')), undefined);
      await store.companies.put('gone', () => ({ companyId: 'gone', name: 'gone', timeZone: 'UTC' }), admin);
      await kept(request('gone'));
      await store.companies.delete('gone', admin);
      assert.deepEqual(await listed('gone'), []);
    });

    it(`are evicted by newer requests only after a decision: then at most ${keptOfReason} of each reason stay`, async () => {
      const numbered = (n: number, more: Partial<NewRejectedRequest> = {}) => request('bounds', { elements: [{ n }], ...more });
      const rare = await kept(numbered(0, { reason: 'rule-disabled' }));
      const ids: string[] = [];
      for (let n = 0; n < keptOfReason + 5; n += 1) ids.push(await kept(numbered(n)));
      const idsOf = async () => (await listed('bounds')).map(({ rejectedId }) => rejectedId);
      assert.deepEqual(await idsOf(), [...ids.toReversed(), rare]);
      for (const rejectedId of ids) assert(await store.rejected.drop('bounds', rejectedId, admin));
      const last = await kept(numbered(1000));
      assert.deepEqual(await idsOf(), [last, ...ids.slice(5).reverse(), rare]);
      const first = await store.rejected.list('bounds', { limit: 60 });
      const second = await store.rejected.list('bounds', { limit: 60, cursor: first.nextCursor });
      assert.deepEqual([...first.items, ...second.items], await listed('bounds'));
      assert.equal(second.nextCursor, undefined);
    });

    it('that wait are counted by rule, reason and kind of mistake, with the newest, until a decision or 30 days later', async () => {
      await store.companies.put('waits', () => ({ companyId: 'waits', name: 'waits', timeZone: 'UTC' }), admin);
      const problem = (detail: string) => ({ ...request('waits').problem, detail });
      const [first, last] = [new Date(Date.now() - 3_600_000), new Date(Date.now() - 60_000)];
      const broken = (detail: string, more: Partial<NewRejectedRequest> = {}) =>
        request('waits', { reason: 'malformed-body', mistake: 'quotation-mark', problem: problem(detail), ...more });
      const oldest = await kept(broken('column 1', { receivedAt: first, elements: [{ n: 1 }] }));
      const newest = await kept(broken('column 2', { receivedAt: last, elements: [{ n: 2 }] }));
      await keep(broken('column 2', { elements: [{ n: 2 }] }));
      await database.query('UPDATE rejected_requests SET not_kept = 3 WHERE rejected_id = $1', [oldest]);
      const cut = await kept(broken('it ends', { mistake: 'cut-off' }));
      const other = await kept(request('waits', { relayIds: ['2', '1'] }));
      await kept(broken('too old', { mistake: 'comment', receivedAt: new Date(Date.now() - 31 * 86_400_000) }));
      const waiting = await store.rejected.waiting('waits');
      assert.deepEqual(
        waiting.map(({ relayId, reason, mistake, requests, rejectedId }) => [relayId, reason, mistake, requests, rejectedId]),
        [
          ['2', 'invalid-chain', undefined, 1, other],
          ['1', 'malformed-body', 'cut-off', 1, cut],
          ['1', 'malformed-body', 'quotation-mark', 2, newest],
        ],
      );
      const { message, since, lastAt, repeats, notKept } = waiting[2] ?? assert.fail();
      assert.deepEqual([message, repeats, notKept], ['column 2', 1, 3]);
      assert.deepEqual([since, lastAt], [first.toISOString(), last.toISOString()]);

      assert(await store.rejected.drop('waits', newest, admin));
      await store.rejected.noteResent({ companyId: 'waits', rejectedId: cut, chainId: 'c1' }, admin);
      const left = await store.rejected.waiting('waits');
      assert.deepEqual(
        left.map(({ rejectedId, requests, repeats }) => [rejectedId, requests, repeats]),
        [
          [other, 1, 0],
          [oldest, 1, 0],
        ],
      );
      assert.deepEqual(await store.rejected.waiting('other'), []);
    });

    it('of a rule take at most 4 MiB, those with revoked tokens 1 MiB; a request without room is only counted; each rule has its own limit', async () => {
      const large = (n: number, more: Partial<NewRejectedRequest> = {}) =>
        request('rooms', { elements: [{ n, html: 'x'.repeat(250_000) }], ...more });
      await store.companies.put('rooms', () => ({ companyId: 'rooms', name: 'rooms', timeZone: 'UTC' }), admin);
      const fill = async (more: Partial<NewRejectedRequest> = {}) => {
        for (let n = 0; ; n += 1) {
          const keeping = await keep(large(n, more));
          if (!keeping.kept) return { count: n, ...keeping };
        }
      };
      const full = await fill();
      assert.deepEqual([full.count, full.notKept], [16, 1]);
      assert.equal((await store.rejected.keep(large(100), 7))?.notKept, 9);
      assert.equal((await listed('rooms'))[0]?.notKept, 9);
      assert.equal((await listed('rooms'))[0]?.rejectedId, full.rejectedId);
      assert.equal((await keep(large(0))).repeated, true);
      assert.equal((await fill({ reason: 'token-revoked' })).count, 4);
      assert.equal((await fill({ reason: 'rate-limited' })).count, 16);
      assert((await keep(large(0, { relayIds: ['2', '1'] }))).kept);
      await store.rejected.drop('rooms', full.rejectedId, admin);
      assert((await keep(large(200))).kept);
    });

    it('that repeat within ten minutes are stored once', async () => {
      const again = (more: Partial<NewRejectedRequest> = {}) => keep(request('acme', { elements: [{ same: 1 }], ...more }));
      const first = await again();
      const [one, other] = await Promise.all([again(), again()]);
      assert.deepEqual([first.repeated, one.repeated, other.repeated], [false, true, true]);
      assert.equal((await store.rejected.get('acme', first.rejectedId))?.repeats, 2);
      assert.equal((await again({ idempotencyKey: 'another' })).repeated, false);
      assert.equal((await again({ relayIds: ['2'] })).repeated, false);
      await database.query("UPDATE rejected_requests SET received_at = now() - interval '11 minutes' WHERE rejected_id = $1", [
        first.rejectedId,
      ]);
      assert.equal((await again()).repeated, false);
    });

    it('keep an unreadable body and its proposal, which is computed only if the request is kept', async () => {
      let asked = 0;
      const proposal = [{ element: { action: 'sendEmails' }, authenticated: true }];
      const body = { text: '[{"a":"b" c"}]', bytes: 14, cut: false, place: { line: 1, column: 9, offset: 8, says: 'here' } };
      const propose = () => {
        asked += 1;
        return proposal;
      };
      const given = request('acme', { reason: 'malformed-body', body, mistake: 'quotation-mark', propose });
      const { rejectedId } = await keep(given);
      assert((await keep(given)).repeated);
      assert.equal(asked, 1);
      const stored = await store.rejected.get('acme', rejectedId);
      assert.deepEqual([stored?.body, stored?.proposal], [body, proposal]);
    });

    it('are dropped once, and the store records by whom; a resent request cannot be dropped', async () => {
      const rejectedId = await kept(request('acme', { elements: [{ drop: 1 }] }));
      assert(await store.rejected.drop('acme', rejectedId, admin));
      assert(await store.rejected.drop('acme', rejectedId, { kind: 'admin', name: 'dana' }));
      const { droppedBy, droppedAt } = (await store.rejected.get('acme', rejectedId)) ?? assert.fail();
      assert.deepEqual([droppedBy, droppedAt === undefined], ['admin', false]);
      const { items } = await store.audit.list({ companyId: 'acme', limit: 1 });
      assert.deepEqual([items[0]?.action, items[0]?.details], ['rejected.drop', { rejectedId, relayId: '1' }]);
      const sent = await kept(request('acme', { elements: [{ drop: 2 }] }));
      await store.rejected.noteResent({ companyId: 'acme', rejectedId: sent, chainId: 'chain' }, admin);
      assert.equal(await store.rejected.drop('acme', sent, admin), false);
      assert.equal(await store.rejected.drop('acme', 'nothing', admin), false);
    });

    it('older than 30 days are hidden; when any company stores its next request, they are deleted', async () => {
      const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3600 * 1000);
      await kept(request('age', { receivedAt: daysAgo(29) }));
      await kept(request('age', { receivedAt: daysAgo(31) }));
      assert.equal((await listed('age')).length, 1);
      await kept(request('other'));
      assert.equal((await database.query('SELECT 1 FROM rejected_requests WHERE company_id = $1', ['age'])).length, 1);
    });

    it('record their outcome once, and who decided', async () => {
      const rejectedId = await kept(request('acme', { elements: [{ resend: 1 }] }));
      const revisionOf = () => database.query('SELECT revision FROM settings_revision');
      const revision = await revisionOf();
      await store.rejected.noteResent({ companyId: 'acme', rejectedId, chainId: 'chain-1', mended: ['/0/subject'] }, admin);
      await store.rejected.noteResent({ companyId: 'acme', rejectedId, chainId: 'chain-2' }, admin);
      const { chainId, resentAt } = (await store.rejected.get('acme', rejectedId)) ?? assert.fail();
      assert.deepEqual([chainId, Date.parse(resentAt ?? '') > 0], ['chain-1', true]);
      const { items } = await store.audit.list({ companyId: 'acme', limit: 2 });
      assert.deepEqual(items[0]?.details, { rejectedId, chainId: 'chain-1', mended: ['/0/subject'], relayId: '1' });
      assert.notEqual(items[1]?.details.rejectedId, rejectedId);
      assert.deepEqual(await revisionOf(), revision, 'no setting has changed');
    });
  });
}
