import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RefusedRequest, Rejections } from '../../../src/api/rejections.js';
import type { RuleNotice } from '../../../src/contract/notices.js';
import { Problem, type RejectionReason } from '../../../src/contract/problem.js';
import { createLog, Metrics } from '../../../src/service/telemetry.js';
import type { Keeping, NewRejectedRequest } from '../../../src/store/rejected.js';

type Keep = (request: NewRejectedRequest, more?: number) => Promise<Keeping | undefined>;

/** Rejections with a store that keeps every request, unless the test lets it fail. */
function rejections(keep?: Keep) {
  const kept: NewRejectedRequest[] = [];
  const noticed: RuleNotice[] = [];
  const lines: string[] = [];
  const metrics = new Metrics();
  const made = new Rejections({
    store: { rejected: { keep: keep ?? (async (request) => keeping({ rejectedId: `id-${kept.push(request)}` })) } },
    notices: { start: (notice) => noticed.push(notice) },
    metrics,
    taskQueue: 'relay',
    log: createLog('info', { write: (line) => lines.push(line) }),
  });
  /** The number of requests that were kept or dropped. */
  const counted = async (result: string) => {
    const { values } = await metrics.refused.get();
    return values.filter(({ labels }) => labels.result === result).reduce((sum, { value }) => sum + value, 0);
  };
  return { rejections: made, kept, noticed, lines, counted };
}

const keeping = (more: Partial<Keeping> = {}): Keeping => ({
  rejectedId: 'id',
  kept: true,
  repeated: false,
  inADay: 1,
  notKept: 0,
  ...more,
});

const request = (reason: RejectionReason = 'invalid-chain', more: Partial<RefusedRequest> = {}): RefusedRequest => ({
  companyId: 'acme',
  reason,
  problem: { type: '/problems/x', title: 'x', status: 400, detail: 'x' },
  relayIds: ['0'],
  elements: [],
  mistakes: [{ pointer: '/0/x', detail: 'is wrong' }],
  ruleOf: (index) => String(index),
  ...more,
});

const keepAfter = (made: Rejections, refused: RefusedRequest) => made.keepAfter(refused, async () => refused);

describe('a refused request', () => {
  it('is reported to each of its rules, five at most', async () => {
    const { rejections: made, noticed } = rejections();
    const at = (pointer: string) => ({ pointer, detail: 'is wrong' });
    await made.keepFirst(request('invalid-chain', { mistakes: [at('/1/x'), at('/3/x'), at('/1/y'), at('')] }));
    await made.keepFirst(request('invalid-chain', { mistakes: Array.from({ length: 8 }, (_, n) => at(`/${n}`)) }));
    const told = noticed.map((notice) =>
      notice.kind === 'rejected' ? [notice.relayId, notice.mistakes.map(({ pointer }) => pointer)] : [],
    );
    assert.deepEqual(told.slice(0, 3), [
      ['1', ['/1/x', '/1/y']],
      ['3', ['/3/x']],
      ['0', ['']],
    ]);
    assert.equal(told.length, 3 + 5);
  });

  it('with a known sender is stored before its answer, or the answer is 503', async () => {
    let failing = true;
    const stored: string[] = [];
    const {
      rejections: made,
      lines,
      noticed,
    } = rejections(async ({ reason }) => {
      if (failing) throw new Error('the database is down');
      stored.push(reason);
      return keeping();
    });
    await assert.rejects(made.keepFirst(request()), (error) => error instanceof Problem && error.status === 503);
    assert.match(lines.join(), /a refused request could not be stored/);
    assert.equal(noticed.length, 0);
    failing = false;
    await made.keepFirst(request());
    assert.deepEqual(stored, ['invalid-chain']);
  });

  it('with a revoked token is stored after its answer, and causes no query before it', async () => {
    const { rejections: made, kept } = rejections();
    keepAfter(made, request('token-revoked'));
    await Promise.resolve();
    assert.equal(kept.length, 0);
    await made.settled('acme');
    assert.equal(kept.length, 1);
  });

  it('that cannot be stored after its answer is logged, reported to nobody, and does not block the next request', async () => {
    let failing = true;
    const {
      rejections: made,
      noticed,
      lines,
    } = rejections(async () => {
      if (!failing) return keeping();
      failing = false;
      throw new Error('the database is down');
    });
    keepAfter(made, request('token-revoked'));
    keepAfter(made, request('token-revoked'));
    await made.settled('acme');
    assert.equal(noticed.length, 1);
    assert.match(lines.join(), /a refused request could not be stored/);
  });

  it('with a revoked token in a flood is counted instead of kept, and logged once; other senders still have room', async () => {
    const { rejections: made, kept, lines, counted } = rejections();
    const flood = async () => {
      for (let n = 0; n < 250; n += 1) keepAfter(made, request('token-revoked'));
      await made.settled('acme');
    };
    await flood();
    await flood();
    assert.equal(kept.length, 100);
    assert.deepEqual([await counted('kept'), await counted('dropped')], [100, 400]);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"companyId":"acme","reason":"token-revoked".*too many requests were refused/);
    await Promise.all(Array.from({ length: 300 }, () => made.keepFirst(request())));
    assert.equal(kept.length, 400);
  });

  it('without room is counted and reported, without a query for each', async () => {
    const asked: number[] = [];
    const {
      rejections: made,
      noticed,
      lines,
      counted,
    } = rejections(async (_request, more = 0) => {
      asked.push(more);
      return keeping({ kept: false, notKept: 3 });
    });
    for (let n = 0; n < 5; n += 1) await made.keepFirst(request());
    assert.deepEqual(asked, [0]);
    assert.equal(await counted('dropped'), 5);
    assert.deepEqual(
      noticed.map((notice) => notice.kind === 'rejected' && notice.notKept),
      [3],
    );
    assert.equal(lines.length, 1);
  });

  it('that is repeated is counted, and not reported again', async () => {
    const { rejections: made, noticed, counted } = rejections(async () => keeping({ repeated: true }));
    await made.keepFirst(request());
    assert.deepEqual([noticed.length, await counted('repeated')], [0, 1]);
  });

  it("of one company is neither dropped nor delayed by another's flood", async () => {
    let release = (_: Keeping) => {};
    const stuck = new Promise<Keeping>((resolve) => {
      release = resolve;
    });
    const kept: string[] = [];
    const { rejections: made } = rejections((given) => {
      if (given.companyId === 'flooding') return stuck;
      return Promise.resolve(keeping({ rejectedId: `id-${kept.push(given.companyId)}` }));
    });
    for (let n = 0; n < 500; n += 1) keepAfter(made, request('invalid-chain', { companyId: 'flooding' }));
    for (const companyId of ['one', 'two', 'two']) keepAfter(made, request('invalid-chain', { companyId }));
    await made.settled('one');
    await made.settled('two');
    assert.deepEqual(kept.toSorted(), ['one', 'two', 'two']);
    release(keeping());
    await made.settled('flooding');
  });
});
