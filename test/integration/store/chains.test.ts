import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { Keyring } from '../../../src/contract/encryption.js';
import { type ChainRow, Chains, type NewChainRow } from '../../../src/store/chains.js';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { admin, keyring, newCompany, testDatabases } from '../../store/databases.js';

const dayMs = 86_400_000;
const ago = (days: number, ms = 0) => new Date(Date.now() - days * dayMs + ms).toISOString();
const secret = /s3cret/;

for (const { name, open, skip } of testDatabases) {
  describe(`rows of chains on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    const lost: string[] = [];
    before(async () => {
      database = await open();
      store = createStore(database, { keyring }, { lostRow: ({ chainId }) => lost.push(chainId) });
    });
    after(() => store.close());

    let made = 0;
    const rowOf = (companyId: string, given: Partial<ChainRow> = {}): NewChainRow => ({
      ...{ companyId, chainId: `chain-${++made}`, status: 'running', receivedAt: ago(1, made), summary: `s3cret ${made}` },
      ...{ relayIds: ['4711'], assignmentIds: [], ticketIds: [], ...given },
    });
    const closed = (days: number, given: Partial<ChainRow> = {}): Partial<ChainRow> => ({
      ...{ status: 'completed', receivedAt: ago(days), startedAt: ago(days), closedAt: ago(days, 1000), runId: 'run-1' },
      ...{ details: '{"actions": "s3cret"}', ...given },
    });
    async function add(...rows: NewChainRow[]): Promise<NewChainRow[]> {
      for (const row of rows) store.chains.add(row);
      await store.chains.flush();
      return rows;
    }
    const idsOf = (rows: readonly { chainId: string }[]) => rows.map(({ chainId }) => chainId);
    const listed = async (companyId: string, filter: Parameters<Store['chains']['list']>[1] = {}) =>
      idsOf((await store.chains.list(companyId, filter, { limit: 200 })).items);
    /** All rows of a company in both tables, as text. */
    async function dump(companyId: string): Promise<string[]> {
      const of = (table: string) => `SELECT row_to_json(t)::text AS text FROM ${table} t WHERE company_id = '${companyId}'`;
      const rows = await database.query(`${of('chains')} UNION ALL ${of('chain_ids')} ORDER BY text`);
      // These values differ after every encryption and every write.
      return rows.map((row) => JSON.stringify(row).replace(/\\"(summary|details|updated_at)\\":\\".*?\\"/g, ''));
    }
    const text = async () => JSON.stringify(await database.query('SELECT row_to_json(t)::text AS text FROM chains t'));

    it('are found by the beginning of an id of an assignment, ticket, chain or rule, only in the own company', async () => {
      const [companyId, other] = [await newCompany(store), await newCompany(store)];
      const ids = { assignmentIds: ['WO-17', 'wo-18'], ticketIds: ['T%1', 'T_2', 'Ü-3'], relayIds: ['8001'] };
      const [first, second] = [`find-a-${++made}`, `find-b-${++made}`];
      const [old, late] = [ago(9), ago(2)];
      await add(
        rowOf(companyId, { ...ids, chainId: first, receivedAt: old }),
        rowOf(companyId, { ...ids, assignmentIds: ['WO-17', 'WO-170'], chainId: second, receivedAt: late }),
        rowOf(other, { ...ids, assignmentIds: ['WO-179'], ticketIds: ['T%9'], relayIds: ['8009'], chainId: 'find-c' }),
      );
      const found = async (query: string) => {
        const { assignment, ticket, chain, rule } = await store.chains.search(companyId, query);
        return [assignment, ticket, chain, rule].map((kind) => kind.map(({ id }) => id));
      };
      for (const [query, ...expected] of [
        ['WO-17', ['WO-17', 'WO-170'], [], [], []],
        ['WO-170', ['WO-170'], [], [], []],
        ['wo', ['wo-18'], [], [], []],
        ['O-17', [], [], [], []],
        ['T', [], ['T%1', 'T_2'], [], []],
        ['T%', [], ['T%1'], [], []], // `%` is plain text, not a pattern of LIKE
        ['T_', [], ['T_2'], [], []],
        ['Ü', [], ['Ü-3'], [], []],
        ['find-', [], [], [first, second], []],
        [first, [], [], [first], []],
        ['80', [], [], [], ['8001']],
        ['', ['WO-17', 'WO-170', 'wo-18'], ['T%1', 'T_2', 'Ü-3'], [first, second], ['8001']],
        ["' OR 1=1 --", [], [], [], []],
      ] as const)
        assert.deepEqual(await found(query), expected, query);
      const { assignment, rule } = await store.chains.search(companyId, '');
      assert.deepEqual(assignment[0], { id: 'WO-17', lastAt: late });
      assert.deepEqual(rule, [{ id: '8001', lastAt: late }]);

      const many = await newCompany(store);
      await add(rowOf(many, { assignmentIds: Array.from({ length: 30 }, (_, place) => `A${place + 100}`) }));
      const { assignment: some } = await store.chains.search(many, 'A');
      assert.deepEqual(
        some.map(({ id }) => id),
        Array.from({ length: 20 }, (_, place) => `A${place + 100}`),
      );
    });

    it('are listed page by page, open chains first, then the chain that closed last, by each filter, with counts', async () => {
      const [companyId, other] = [await newCompany(store), await newCompany(store)];
      const [old, young] = await add(
        rowOf(companyId, { receivedAt: ago(50), assignmentIds: ['A'], paused: true }),
        rowOf(companyId, { receivedAt: ago(40), ticketIds: ['T'], relayIds: ['1', '2'] }),
        rowOf(other, { assignmentIds: ['A'], ticketIds: ['T'], relayIds: ['1'] }),
      );
      const held = rowOf(companyId, { receivedAt: ago(45), status: 'needs-attention', failureTypes: ['PlatformError'] });
      const early = rowOf(companyId, closed(30, { receivedAt: ago(60), assignmentIds: ['A', 'B'] }));
      const late = rowOf(
        companyId,
        closed(20, { receivedAt: ago(65), status: 'failed', failureTypes: ['MailError', 'PlatformError'] }),
      );
      await store.chains.collect([early, held, late]);
      assert.ok(old && young);
      const order = idsOf([young, held, old, late, early]);
      for (const limit of [1, 2, 5]) {
        const pages: string[][] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const page = await store.chains.list(companyId, {}, { limit, ...(cursor && { cursor }) });
          pages.push(idsOf(page.items));
          cursor = page.nextCursor;
        }
        assert.deepEqual(pages.flat(), order, `${limit} a page`);
        assert.equal(pages.length, Math.ceil(5 / limit));
      }
      for (const [filter, ...expected] of [
        [{ status: 'running' }, young, old],
        [{ status: 'failed' }, late],
        [{ status: 'cancelled' }],
        [{ assignmentId: 'A' }, old, early],
        [{ assignmentId: 'a' }],
        [{ ticketId: 'T' }, young],
        [{ relayId: '2' }, young],
        [{ reason: 'PlatformError' }, held, late],
        [{ reason: 'PlatformError', status: 'failed' }, late],
        [{ since: young.receivedAt }, young],
        [{ until: young.receivedAt }, held, old, late, early],
        [{ paused: true }, old],
        [{ paused: false, assignmentId: 'B' }, early],
      ] as const) {
        assert.deepEqual(await listed(companyId, filter), idsOf(expected), JSON.stringify(filter));
        const counted = Object.fromEntries(await store.chains.counts(companyId, filter));
        const statuses = new Map<string, number>();
        for (const { status } of expected) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        assert.deepEqual(counted, Object.fromEntries(statuses), JSON.stringify(filter));
      }
      const all = await store.chains.list(undefined, { assignmentId: 'A' }, { limit: 200 });
      assert.ok(all.items.some((row) => row.companyId === other));
    });

    it('give the collector the ends that this process has just written, without a query; a restarted process asks', async () => {
      const companyId = await newCompany(store);
      const [end, open] = [rowOf(companyId, closed(0)), rowOf(companyId)];
      store.chains.end(end);
      await add(open);
      await database.query('DELETE FROM chains WHERE company_id = $1 AND chain_id = $2', [companyId, end.chainId]);
      const runs = (known: Awaited<ReturnType<Store['chains']['known']>>) =>
        [...known.values()].map(({ chainId, runId }) => [chainId, runId]);
      assert.deepEqual(runs(await store.chains.known([end, open])), [
        [end.chainId, 'run-1'],
        [open.chainId, undefined],
      ]);
      const restarted = new Chains(database);
      assert.deepEqual(runs(await restarted.known([end, open])), [[open.chainId, undefined]]);
      await restarted.close();
    });

    it('are deleted when they are older than the historyDays of their company, 400 if it has none; open rows stay', async () => {
      const [short, usual] = [await newCompany(store), await newCompany(store)];
      await store.companies.put(
        short,
        (stored) => ({ ...stored, companyId: short, name: 'S', timeZone: 'UTC', historyDays: 30 }),
        admin,
      );
      const rows = (companyId: string) =>
        [20, 40, 390, 410].map((days) => rowOf(companyId, closed(days, { assignmentIds: [`A${days}`] })));
      const [ofShort, ofUsual] = [rows(short), rows(usual)];
      const open = rowOf(short, { receivedAt: ago(500) });
      await store.chains.collect([...ofShort, ...ofUsual, open]);
      await store.chains.purge();
      assert.equal((await listed(usual)).length, 4, 'it looks every ten minutes only');
      const now = Date.now();
      const clock = mock.method(Date, 'now', () => now + 700_000);
      await store.chains.purge().finally(() => clock.mock.restore());
      assert.deepEqual(await listed(short), idsOf([open, ...ofShort.slice(0, 1)]));
      assert.deepEqual(await listed(usual), idsOf(ofUsual.slice(0, 3)));
      assert.deepEqual(
        (await store.chains.search(short, 'A')).assignment.map(({ id }) => id),
        ['A20'],
      );
    });

    it('are replaced by a later run, never by an earlier run; a row of a closed run stays closed', async () => {
      const companyId = await newCompany(store);
      const chainId = `again-${++made}`;
      const accepted = rowOf(companyId, { chainId, ticketIds: ['T'], receivedAt: ago(9) });
      const first = rowOf(companyId, closed(9, { chainId, status: 'failed', failedActions: 1, assignmentIds: ['A'] }));
      const reopened = rowOf(companyId, { chainId, receivedAt: ago(9), startedAt: ago(5), runId: 'run-2' });
      const second = { ...reopened, ...closed(5, { receivedAt: ago(9), startedAt: reopened.startedAt, runId: 'run-2' }) };
      const seen = async () => {
        const row = (await store.chains.get(companyId, chainId)) ?? assert.fail();
        return [row.status, row.runId, row.closedAt, row.failedActions, row.ticketIds];
      };
      await add(accepted);
      assert.deepEqual(await seen(), ['running', undefined, undefined, 0, ['T']]);
      const is = {
        first: ['failed', 'run-1', first.closedAt, 1, ['T']],
        reopened: ['running', 'run-2', undefined, 0, ['T']],
        second: ['completed', 'run-2', second.closedAt, 0, ['T']],
      };
      for (const [row, expected] of [
        [first, is.first],
        [first, is.first],
        [reopened, is.reopened],
        [first, is.reopened],
        [second, is.second],
        [reopened, is.second],
        [first, is.second],
      ] as const) {
        await store.chains.collect([row]);
        assert.deepEqual(await seen(), expected);
      }
      await add(accepted);
      assert.deepEqual(await seen(), is.second, 'a late row of the API');
      assert.deepEqual([...(await store.chains.counts(companyId, {}))], [['completed', 1]]);
      assert.deepEqual(await listed(companyId), [chainId]);
      const known = await store.chains.known([
        { companyId, chainId },
        { companyId, chainId: 'other' },
      ]);
      const { startedAt, closedAt } = second;
      assert.deepEqual([...known.values()], [{ companyId, chainId, runId: 'run-2', startedAt, closedAt, status: 'completed' }]);
    });

    it('do not change in a second collection; a row that the database refuses is reported, and does not stop other rows', async () => {
      const companyId = await newCompany(store);
      const ids = { assignmentIds: ['A', 'A'], ticketIds: ['T\0', '\ud800'] };
      const rows = [3, 2, 1].map((days) => rowOf(companyId, closed(days, ids)));
      const strange = rowOf(companyId, { ...closed(4), receivedAt: 'yesterday week' });
      const ofNoCompany = rowOf('nobody');
      await store.chains.collect([strange, ...rows, ofNoCompany]);
      const once = await dump(companyId);
      assert.equal(once.length, 3 + 3 * 4);
      await store.chains.collect([...rows, strange]);
      assert.deepEqual(await dump(companyId), once);
      assert.deepEqual(lost, [strange.chainId, strange.chainId]);
      assert.deepEqual(await dump('nobody'), []);
      await store.chains.setCollected('queue', ago(1));
      const corrected = ago(2);
      await store.chains.setCollected('queue', corrected);
      assert.equal(await store.chains.collectedUntil('queue'), corrected, 'the clock of the worker before was fast');
    });

    it('are kept for the next attempt while the database does not answer', async () => {
      const companyId = await newCompany(store);
      let away = true;
      const fail = () => Promise.reject(new Error('the database is away'));
      const other = createStore({
        ...database,
        query: (...query) => (away ? fail() : database.query(...query)),
        transaction: (work) => (away ? fail() : database.transaction(work)),
      });
      const row = rowOf(companyId);
      other.chains.add(row);
      await assert.rejects(other.chains.flush(), /is away/);
      await assert.rejects(other.chains.collect([rowOf(companyId)]), /is away/);
      away = false;
      await other.chains.flush();
      other.settings.close();
      assert.deepEqual(await listed(companyId), [row.chainId]);
    });

    it('of a chain that ends are written once, if its open row still waits, and replace an open row', async () => {
      const companyId = await newCompany(store);
      const [quick, slow] = [rowOf(companyId), rowOf(companyId)];
      store.chains.add(slow);
      await store.chains.flush();
      store.chains.add(quick);
      const ends = [quick, slow].map((row) => ({ ...row, ...closed(0), receivedAt: row.receivedAt }));
      for (const end of ends) store.chains.end(end);
      store.chains.add(quick); // in another process, the API may add its row later
      await store.chains.flush();
      const rows = await Promise.all([quick, slow].map(({ chainId }) => store.chains.get(companyId, chainId)));
      assert.deepEqual(
        rows.map((row) => [row?.status, row?.details]),
        ends.map(({ details }) => ['completed', details]),
      );
      store.chains.add(quick);
      await store.chains.flush();
      assert.equal((await store.chains.get(companyId, quick.chainId))?.status, 'completed');
    });

    it('say which open chains are held or paused, and leave closed ones alone', async () => {
      const companyId = await newCompany(store);
      const [held, paused, ended] = [rowOf(companyId), rowOf(companyId), rowOf(companyId, closed(1))];
      await store.chains.collect([held, paused, ended]);
      const heldSince = ago(1);
      const facts = [
        { ...held, heldSince, failureTypes: ['PlatformError'] },
        { ...paused, paused: true as const },
        { ...ended, heldSince },
      ];
      await store.chains.setHeld(facts);
      await store.chains.setHeld(facts);
      assert.deepEqual(await listed(companyId, { status: 'needs-attention' }), [held.chainId]);
      assert.deepEqual(await listed(companyId, { reason: 'PlatformError' }), [held.chainId]);
      assert.deepEqual(await listed(companyId, { paused: true }), [paused.chainId]);
      assert.equal((await store.chains.get(companyId, held.chainId))?.heldSince, heldSince);
      await store.chains.setHeld([]);
      assert.deepEqual(await listed(companyId, { status: 'running' }), idsOf([paused, held]));
      assert.deepEqual(await listed(companyId, { paused: true }), []);
      assert.deepEqual(await listed(companyId, { status: 'completed' }), [ended.chainId]);
    });

    it('are closed as forgotten if they are open, until Temporal shows a run of the chain again', async () => {
      const companyId = await newCompany(store);
      const ids = { assignmentIds: ['A-lost'] };
      const [open, held] = [rowOf(companyId, ids), rowOf(companyId, { runId: 'run-1', startedAt: ago(1) })];
      const ended = rowOf(companyId, closed(1));
      await store.chains.collect([open, held, ended]);
      await store.chains.setHeld([{ ...held, heldSince: ago(1), failureTypes: ['PlatformError'] }]);
      const ofCompany = (await store.chains.open()).filter((row) => row.companyId === companyId);
      assert.deepEqual(idsOf(ofCompany).sort(), idsOf([open, held]).sort());
      const [began, before] = [new Date().toISOString(), await store.chains.forgottenSince(ago(0))];
      await store.chains.forget([open, held, ended]);
      assert.equal(await store.chains.forgottenSince(began), before + 2);
      assert.deepEqual([...(await store.chains.counts(companyId, {}))].sort(), [
        ['completed', 1],
        ['forgotten', 2],
      ]);
      assert.deepEqual(await listed(companyId, { status: 'forgotten' }), idsOf([held, open]));
      assert.deepEqual(await listed(companyId, { assignmentId: 'A-lost' }), [open.chainId]);
      const row = await store.chains.get(companyId, held.chainId);
      assert.ok((row?.closedAt ?? '') >= began);
      assert.equal(row?.heldSince, undefined);
      await store.chains.collect([held]);
      assert.deepEqual(await listed(companyId, { status: 'running' }), [held.chainId]);
    });

    it('have no plain text, get the new key in a rotation, and are deleted with their company', async () => {
      const companyId = await newCompany(store);
      const inClear = createStore(database);
      const row = rowOf(companyId, closed(1, { assignmentIds: ['A'], ticketIds: ['T'] }));
      await inClear.chains.collect([row]);
      assert.match(await text(), secret, 'nothing would be found');
      inClear.settings.close();
      const rotated = createStore(database, {
        keyring: new Keyring(`new:${Buffer.alloc(32, 2).toString('base64')},k:${Buffer.alloc(32, 1).toString('base64')}`),
      });
      await add(rowOf(companyId));
      while ((await rotated.encryption.rotate(1000, admin)).rotated > 0);
      rotated.settings.close();
      assert.doesNotMatch(await text(), secret);
      const keys = await database.query("SELECT DISTINCT encryption_key FROM chains WHERE encryption_key <> ''");
      assert.deepEqual(keys, [{ encryption_key: 'new' }]);
      const { summary, details } = (await rotated.chains.get(companyId, row.chainId)) ?? assert.fail();
      assert.deepEqual({ summary, details }, { summary: row.summary, details: row.details });
      await assert.rejects(store.chains.get(companyId, row.chainId), /no encryption key new/);

      assert.equal((await dump(companyId)).length, 2 + 4);
      rotated.chains.add(rowOf(companyId));
      await rotated.companies.delete(companyId, admin);
      await rotated.chains.flush();
      await rotated.chains.collect([row]);
      assert.deepEqual(await dump(companyId), []);
      assert.deepEqual(await database.query('SELECT * FROM chain_counts WHERE company_id = $1', [companyId]), []);
    });
  });
}
