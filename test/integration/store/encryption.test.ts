import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Company } from '../../../src/contract/company.js';
import { Keyring } from '../../../src/contract/encryption.js';
import type { Contents } from '../../../src/contract/rule-contents.js';
import type { EventDoor } from '../../../src/contract/rule-event.js';
import type { NewRule } from '../../../src/store/companies.js';
import type { Database } from '../../../src/store/database.js';
import { openEmbedded } from '../../../src/store/embedded.js';
import type { NewEvent } from '../../../src/store/events.js';
import type { NewRejectedRequest } from '../../../src/store/rejected.js';
import { createStore, type Secrets, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';
import { openEmptied } from '../../store/emptied.js';

const admin = { kind: 'admin' } as const;
const key = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;
const [first, second] = [key('first'), key('second')];
const keys = (...entries: string[]) => ({ keyring: new Keyring(entries.join(',')) });

/** Every text here is a secret or a person's address, or may reveal a secret or an address. */
const settings: Partial<Company> = {
  notify: {
    emails: ['ada@people.example'],
    webhookUrl: 'https://hooks.slack.com/T0/s3cret-path',
    webhookSecret: 's3cret-signing',
  },
  platform: { kind: 'http', baseUrl: 'https://p.example.com', auth: { type: 'bearer', token: 's3cret-token' } },
  ticketing: {
    kind: 'http',
    baseUrl: 'https://t.example.com',
    auth: { type: 'basic', username: 'bob@people.example', password: 's3cret-pw' },
  },
  mail: {
    from: 'Cleo <cleo@people.example>',
    replyTo: 'dan@people.example',
    smtpUrl: 'smtps://eve:s3cret-smtp@mail.example.com',
  },
  webhookSecret: 'whsec_s3cret',
};
const ruleSettings: NewRule = {
  name: 'Alert',
  onFailure: 'hold',
  onUnknown: 'resend',
  relayId: '4711',
  notify: { emails: ['finn@people.example'], webhookUrl: 'https://hooks.example.com/s3cret-rule' },
};
const refused = (companyId: string): NewRejectedRequest => ({
  companyId,
  receivedAt: new Date('2126-03-02T09:12:44.120Z'),
  reason: 'invalid-chain',
  problem: {
    type: '/problems/invalid-chain',
    title: 'Invalid chain',
    status: 400,
    detail: 'no: "gus@people.example"',
    errors: [{ pointer: '/0', detail: '"gus@people.example" is no number' }],
  },
  relayIds: ['4711'],
  idempotencyKey: 'hal@people.example 2026-03-02',
  elements: [{ action: 'sendEmails', emails: ['ida@people.example'], body: 'Dear Ida, s3cret-words' }],
});
const words = { message: 'no mailbox kim@people.example here', title: 'kim@people.example has no mailbox', remedy: 's3cret' };
const cause = { causeId: 'c', reason: 'MailError', ...words };
const written = {
  contents: { variables: {}, actions: [{ action: 'sendEmails', emails: ['max@people.example'], body: 's3cret-words' }] },
  note: 'ask ned@people.example',
  door: {
    signature: { scheme: 'standard-webhooks', key: 'whsec_s3cretAndTwentyFourLetters' },
    refuseLists: false,
    eventDays: 30,
  },
} satisfies { contents: Contents; note: string; door: EventDoor };
const event: Omit<NewEvent, 'companyId' | 'eventId'> = {
  ...{ relayId: '4711', receivedAt: new Date().toISOString(), bytes: 9, outcome: 'not-applicable', version: 1, hash: 'h' },
  ...{ body: '{"to": "ole@people.example"}', reason: 'ole@people.example', dedupe: 'pat@people.example' },
};
const hidden = /people\.example|s3cret|c3Nj/;

/** Fills in every confidential value of a company. @returns the id of the refused request. */
async function fill(store: Store, companyId: string): Promise<string> {
  await store.companies.put(companyId, () => ({ companyId, name: `Acme of ${companyId}`, timeZone: 'UTC', ...settings }), admin);
  await store.rules.create(companyId, ruleSettings, admin);
  await store.pauses.begin(companyId, { what: 'mail', reason: 'ask jan@people.example' }, admin);
  await store.people.set(companyId, { email: 'kim@people.example', role: 'read' }, admin);
  const actor = { kind: 'link', companyId, contact: 'lou@people.example' } as const;
  await store.audit.record({ actor, action: 'chain.retry', companyId, details: { chainId: 'c', index: 0 } });
  const { contents, note, door } = written;
  await store.versions.saveDraft(companyId, '4711', { revision: 0, contents }, admin);
  await store.versions.publish(companyId, '4711', { revision: 1, contents, note }, admin);
  await store.rules.setDoor(companyId, '4711', () => door, admin);
  store.events.add({ ...event, companyId, eventId: `e of ${companyId}` });
  await store.events.flush();
  await store.causes.hold({ companyId, ...cause }, { chainId: 'c', index: 0, relayId: '4711', since: new Date().toISOString() });
  return (await store.rejected.keep(refused(companyId)))?.rejectedId ?? assert.fail();
}
/** Reads the same values through the store, and from its settings in memory. */
async function readAll(store: Store, companyId: string, rejectedId: string) {
  const company = (await store.companies.get(companyId)) ?? assert.fail();
  const rule = await store.rules.get(companyId, '4711');
  const inMemory = (await store.settings.of(companyId)) ?? assert.fail();
  const request = await store.rejected.get(companyId, rejectedId);
  const { items: listed } = await store.rejected.list(companyId, { limit: 10 });
  const { items: audit } = await store.audit.list({ companyId, limit: 100_000 });
  const { message, title, remedy } = (await store.causes.get(companyId, 'c')) ?? assert.fail();
  assert.deepEqual({ message, title, remedy }, words);
  assert.deepEqual(
    (await store.people.list(companyId))?.map(({ email }) => email),
    ['kim@people.example'],
  );
  const [pause] = await store.pauses.current(companyId);
  for (const { notify, platform, ticketing, mail, webhookSecret } of [company, inMemory.company])
    assert.deepEqual({ notify, platform, ticketing, mail, webhookSecret }, settings);
  for (const { notify } of [rule ?? {}, inMemory.rules.get('4711') ?? {}] as NewRule[])
    assert.deepEqual(notify, ruleSettings.notify);
  for (const { reason } of [pause ?? {}, inMemory.pauses[0] ?? {}] as { reason?: string }[])
    assert.equal(reason, 'ask jan@people.example');
  const { companyId: _, receivedAt, ...kept } = refused(companyId);
  assert.deepEqual(request, { rejectedId, receivedAt: receivedAt.toISOString(), repeats: 0, ...kept });
  assert.deepEqual(listed[0]?.problem, kept.problem);
  assert.equal((await store.rejected.waiting(companyId))[0]?.message, kept.problem.detail);
  const version = await store.versions.get(companyId, '4711', 1);
  assert.deepEqual([version?.contents, version?.note], [written.contents, written.note]);
  assert.deepEqual((await store.versions.draft(companyId, '4711'))?.contents, written.contents);
  assert.deepEqual(inMemory.contents.get('4711')?.published?.contents, written.contents);
  for (const door of [await store.rules.getDoor(companyId, '4711'), inMemory.rules.get('4711')?.door])
    assert.deepEqual(door, written.door);
  const eventId = `e of ${companyId}`;
  assert.deepEqual(await store.events.get(companyId, '4711', eventId), { ...event, eventId });
  assert.equal(audit.find(({ action }) => action === 'rule.publish')?.details.reason, written.note);
  const actor = audit.find(({ action }) => action === 'chain.retry')?.actor;
  assert.deepEqual(actor, { kind: 'link', companyId, contact: 'lou@people.example' });
  assert.equal(audit.find(({ action }) => action === 'company.pause')?.details.reason, 'ask jan@people.example');
}

async function dump(database: Database): Promise<string> {
  const tables = ['companies', 'rules', 'pauses', 'rejected_requests', 'causes', 'audit', 'tokens', 'company_keys'].concat([
    ...['rule_versions', 'rule_drafts', 'rule_doors', 'events', 'people', 'person_handles'],
  ]);
  const rows = await Promise.all(tables.map((table) => database.query(`SELECT row_to_json(t)::text AS text FROM ${table} t`)));
  return JSON.stringify(rows);
}

for (const { name, open, skip } of testDatabases) {
  describe(`encryption at rest on ${name}`, { skip }, () => {
    let database: Database;
    /** Stores on the same database, like processes with different keys. */
    const stores: Store[] = [];
    const store = (...entries: string[]) => {
      const made = createStore(database, entries.length > 0 ? keys(...entries) : {});
      stores.push(made);
      return made;
    };
    before(async () => {
      database = await open();
    });
    after(async () => {
      for (const { settings } of stores) settings.close();
      await database.close();
    });

    it('leaves nothing in plain text, and reads everything back', async () => {
      const clear = await fill(store(), 'clear');
      assert.match(await dump(database), hidden, 'nothing would be found');
      await readAll(store(first), 'clear', clear);
      await database.query("DELETE FROM companies WHERE company_id = 'clear'");
      await database.query('DELETE FROM audit');
      const encrypted = store(first);
      const rejectedId = await fill(encrypted, 'acme');
      assert.doesNotMatch(await dump(database), hidden);
      await readAll(encrypted, 'acme', rejectedId);
    });

    it('stores and returns a text of a sender unchanged, even if it looks encrypted', async () => {
      const sent = { ...refused('looks'), idempotencyKey: 'enc:1:first:AAAA' };
      const inClear = store();
      await fill(inClear, 'looks');
      const { rejectedId } = (await inClear.rejected.keep(sent)) ?? assert.fail();
      for (const read of [inClear, store(first)])
        assert.equal((await read.rejected.get('looks', rejectedId))?.idempotencyKey, sent.idempotencyKey);
      await database.query("DELETE FROM companies WHERE company_id = 'looks'");
      await database.query("DELETE FROM audit WHERE company_id = 'looks'");
    });

    it('does not report a field as changed because it was re-encrypted', async () => {
      const encrypted = store(first);
      const { createdAt, updatedAt, ...stored } = (await encrypted.companies.get('acme')) ?? assert.fail();
      await encrypted.companies.put('acme', () => ({ ...stored, name: 'Other' }), admin);
      const { items } = await encrypted.audit.list({ companyId: 'acme', limit: 1 });
      assert.deepEqual(items[0]?.details, { changed: ['name'] });
    });

    it('refuses a value that was moved to another company, field or row', async () => {
      const encrypted = store(first);
      await fill(encrypted, 'other');
      const moves: [move: string, read: () => Promise<unknown>][] = [
        [
          `UPDATE companies SET platform = (SELECT platform FROM companies WHERE company_id = 'acme') WHERE company_id = 'other'`,
          () => encrypted.companies.get('other'),
        ],
        [
          `UPDATE companies SET notify = jsonb_set(notify, '{webhookSecret}', notify -> 'webhookUrl') WHERE company_id = 'other'`,
          () => encrypted.companies.get('other'),
        ],
        [
          `UPDATE rejected_requests SET rejected_id = 'moved' WHERE company_id = 'other'`,
          () => encrypted.rejected.get('other', 'moved'),
        ],
      ];
      for (const [move, read] of moves) {
        await database.query(move);
        await assert.rejects(read, /DecryptionError: .*data with the encryption key first was changed or moved/);
        await encrypted.companies.delete('other', admin);
        await fill(encrypted, 'other');
      }
    });

    it('names the missing key; all other companies still work, and this company works again with the right key', async () => {
      await fill(store(second), 'elsewhere');
      const lacking = store(first);
      await assert.rejects(
        lacking.settings.of('elsewhere'),
        /no encryption key second; the operator must append the key to RELAY_ENCRYPTION_KEYS/,
      );
      await assert.rejects(store().settings.of('elsewhere'), /no encryption key second/);
      assert.equal((await lacking.settings.of('acme'))?.company.companyId, 'acme');
      assert.equal((await store(first, second).settings.of('elsewhere'))?.company.companyId, 'elsewhere');
      await lacking.companies.delete('elsewhere', admin);
      assert.equal(await lacking.settings.of('elsewhere'), undefined);
    });
  });
}

describe('the embedded store', () => {
  it('has no plain text in its files; an interrupted rotation resumes during other writes, and then needs no old key', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'relay-rotation-'));
    try {
      const directory = join(parent, 'store');
      const ids = new Map<string, string>();
      const fillIn = async (secrets: Secrets, companyIds: string[]) => {
        const database = await openEmbedded(directory);
        const store = createStore(database, secrets);
        for (const companyId of companyIds) ids.set(companyId, await fill(store, companyId));
        await database.query('CHECKPOINT');
        await store.close();
      };
      await fillIn(keys(first), ['a', 'b', 'c']);
      assert.deepEqual(await inFiles(directory, /Acme of c/, hidden), [true, false]);
      await fillIn({}, ['clear']);
      assert.deepEqual(await inFiles(directory, /Acme of c/, hidden), [true, true]);

      const during = createStore(await openEmbedded(directory), keys(second, first));
      const { keys: known, left, rows } = await during.encryption.status();
      assert.deepEqual(known, ['second', 'first']);
      assert.equal(left, 4 * 14);
      assert.deepEqual(rows.slice(0, 2), [
        { table: 'companies', rows: 1 },
        { table: 'companies', keyId: 'first', rows: 3 },
      ]);
      const begun = await during.encryption.rotate(3, admin);
      assert.deepEqual([begun.rotated, begun.left, begun.unreadable], [3, 53, []]);
      await during.close();

      const again = createStore(await openEmbedded(directory), keys(second, first));
      let writing = true;
      const writes = (async () => {
        for (let turn = 0; writing; turn++)
          await again.companies.put(
            'a',
            (stored) => ({ ...stored, companyId: 'a', name: `Turn ${turn}`, timeZone: 'UTC' }),
            admin,
          );
      })();
      for (let progress = begun; progress.left > 0; ) {
        const next = await again.encryption.rotate(3, admin);
        assert.ok(next.rotated <= 3 && next.left <= progress.left);
        progress = next;
      }
      writing = false;
      await writes;
      const { items } = await again.audit.list({ limit: 200 });
      assert.deepEqual(items.find(({ action }) => action === 'encryption.rotate')?.details, { keyId: 'second' });
      await again.close();

      const afterwards = createStore(await openEmbedded(directory), keys(second));
      for (const [companyId, rejectedId] of ids) await readAll(afterwards, companyId, rejectedId);
      await afterwards.close();
    } finally {
      await rm(parent, { recursive: true });
    }
  });

  it('skips unreadable rows, and names them', async () => {
    const database = await openEmptied();
    const before = createStore(database, keys(first));
    const after = createStore(database, keys(second, first));
    await fill(before, 'acme');
    await fill(before, 'other');
    await database.query(
      `UPDATE companies SET webhook_secret = replace(webhook_secret, ':first:', ':first:AAAA') WHERE company_id = 'acme'`,
    );
    await after.encryption.rotate(100, admin);
    const { rotated, left, unreadable } = await after.encryption.rotate(100, admin);
    assert.deepEqual([rotated, left, unreadable.length], [0, 1, 1]);
    assert.match(
      unreadable[0] ?? '',
      /^a row of companies of company acme: data with the encryption key first was changed or moved/,
    );
    await assert.rejects(after.settings.of('acme'), /was changed or moved/);
    before.settings.close();
    await after.close();
  });
});

/** Whether a file of the directory contains one of the patterns. */
async function inFiles(directory: string, ...patterns: RegExp[]): Promise<boolean[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1'));
  const contents = await Promise.all(files);
  return patterns.map((pattern) => contents.some((content) => pattern.test(content)));
}
