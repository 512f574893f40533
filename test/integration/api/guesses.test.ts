import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Guesses } from '../../../src/api/guesses.js';
import { authenticateRequest, mayBeAuthentic } from '../../../src/api/relay-authentication.js';
import { createLog } from '../../../src/service/telemetry.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { openEmptied } from '../../store/emptied.js';

/** Guesses that wait until the test releases them. */
function held() {
  const waits: number[] = [];
  const lines: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sleep = mock.fn((ms: number) => {
    waits.push(ms);
    return released;
  });
  const guesses = new Guesses(createLog('warn', { write: (line) => lines.push(line) }), sleep);
  return { guesses, waits, lines, release };
}
const wrong = (relayId: string, relayAccessToken = 'a guess') => [{ relayId, relayAccessToken }];
const most = 120;

describe('guesses at the token of a rule', () => {
  before(() => mock.method(performance, 'now', () => 1000));
  after(() => mock.restoreAll());

  it('are answered at once while they are few, then more and more slowly up to a maximum, and logged once', async () => {
    const { guesses, waits, lines, release } = held();
    for (let n = 0; n < most; n += 1) await guesses.slowDown('acme', wrong('1'));
    assert.deepEqual(waits, []);
    const waiting = Array.from({ length: 20 }, () => guesses.slowDown('acme', wrong('1')));
    assert.deepEqual(waits, [1000, 2000, 3000, 4000, ...Array<number>(16).fill(5000)]);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"companyId":"acme","relayId":"1".*many wrong tokens/);
    release();
    await Promise.all(waiting);
  });

  const free: [what: string, companyId: string, relayId: string, token?: string][] = [
    ['another rule', 'acme', '2'],
    ['the same id of another company', 'other', '1'],
    ["a token in the relay's own form", 'acme', '1', 'rlt_wrong'],
    ['an impossible rule id', 'acme', 'x'.repeat(100_000)],
    ['an impossible company id', 'a/b', '1'],
  ];
  for (const [what, companyId, relayId, token] of free)
    it(`do not slow down ${what}`, async () => {
      const { guesses, waits } = held();
      for (let n = 0; n <= most; n += 1) void guesses.slowDown('acme', wrong('1'));
      assert.equal(waits.length, 1);
      for (let n = 0; n < 5; n += 1) await guesses.slowDown(companyId, wrong(relayId, token));
      assert.equal(waits.length, 1);
    });

  it('wait up to a maximum number; further guesses are answered at once', async () => {
    const { guesses, waits, release } = held();
    const answers = Array.from({ length: most + 500 }, () => guesses.slowDown('acme', wrong('1')));
    assert.equal(waits.length, 500);
    await guesses.slowDown('acme', wrong('1'));
    assert.equal(waits.length, 500);
    release();
    await Promise.all(answers);
    void guesses.slowDown('acme', wrong('1'));
    assert.equal(waits.length, 501);
  });
});

describe('a request with an imported token', () => {
  let store: Store;
  const [companyId, relayId, relayAccessToken] = ['acme', '4711', 'a token of elsewhere'];
  before(async () => {
    store = createStore(await openEmptied());
    const admin = { kind: 'admin' } as const;
    await store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC' }), admin);
    const rule = { name: 'Old', onFailure: 'hold', onUnknown: 'resend', relayId, relayAccessToken } as const;
    assert(typeof (await store.rules.create(companyId, rule, admin)) === 'object');
  });
  after(() => store.close());

  it('waits if its token is wrong and its address has too many failures; once all places are taken, its token is not checked', async () => {
    const { guesses, waits, release } = held();
    const ask = (token: string) =>
      mayBeAuthentic({ store, guesses }, companyId, {
        contentType: 'application/json',
        contentEncoding: undefined,
        bytes: new TextEncoder().encode(JSON.stringify([{ relayAccessToken: token }])).buffer,
        whole: true,
      });
    const asked: Promise<boolean>[] = [];
    while (waits.length < 500) {
      asked.push(ask('a guess'));
      await setImmediate();
    }
    assert.equal(await ask(relayAccessToken), false);
    release();
    assert((await Promise.all(asked)).every((known) => !known));
    assert.equal(await ask(relayAccessToken), true);
  });

  it('is accepted at once if its token is right, however many addresses guess; a wrong token waits, for known and unknown rules', async () => {
    const { guesses, waits, release } = held();
    const ask = (id: string, token: string) =>
      authenticateRequest({ store, log: createLog('silent'), guesses }, companyId, [{ relayId: id, relayAccessToken: token }], {
        bytes: new ArrayBuffer(0),
        headers: new Headers(),
      });
    const asked: Promise<unknown>[] = [];
    for (const id of [relayId, '815']) {
      for (let before = waits.length; waits.length < before + 3; ) {
        asked.push(assert.rejects(ask(id, 'a guess'), { status: 401 }));
        await setImmediate();
      }
      assert.equal((await ask(relayId, relayAccessToken)).signature, 'not required');
    }
    release();
    await Promise.all(asked);
  });
});
