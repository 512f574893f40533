import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rejections } from '../../src/api/rejections.js';
import type { RuleNotice } from '../../src/contract/notices.js';
import { Rejection } from '../../src/contract/problem.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';
import type { NewRejectedRequest } from '../../src/store/rejected.js';

/** Rejections over a store that keeps what it is given, or does as told. */
function rejections(keep?: (request?: NewRejectedRequest) => Promise<string | undefined>) {
  const kept: NewRejectedRequest[] = [];
  const noticed: RuleNotice[] = [];
  const lines: string[] = [];
  const metrics = new Metrics();
  const made = new Rejections({
    store: { rejected: { keep: keep ?? (async (request) => `id-${kept.push(request)}`) } },
    notices: { start: (notice) => noticed.push(notice) },
    metrics,
    taskQueue: 'relay',
    log: createLog('info', { write: (line) => lines.push(line) }),
  });
  /** How many of them were kept, or dropped. */
  const counted = async (result: string) => {
    const { values } = await metrics.refused.get();
    return values.filter(({ labels }) => labels.result === result).reduce((sum, { value }) => sum + value, 0);
  };
  return { rejections: made, kept, noticed, lines, counted };
}

const invalid = (errors = [{ pointer: '/0/x', detail: 'is wrong' }]) =>
  new Rejection('invalid-chain', 'invalid-chain', 'Nothing has run.', { errors });
const request = (elements: Record<string, unknown>[], companyId = 'acme') => ({ companyId, elements });

describe('a rejection', () => {
  it('is kept without anything that is or was meant to be a token, at any depth, and otherwise as it came', async () => {
    const { rejections: made, kept } = rejections();
    const rest = { relayId: 7, access: 'x', token: 'y', relayId2: '', deep: [{ a: { b: null } }] };
    made.keep(
      invalid(),
      request([
        {
          ...rest,
          relayAccessToken: 's',
          relayaccesstoken: 's',
          'relay_access-token': 's',
          relayAccesToken: 's',
          RelayAccessTokens: 's',
        },
        { deep: [{ relayAccessToken: 's', kept: 1 }] },
      ]),
    );
    await made.settled('acme');
    assert.deepEqual(kept[0]?.elements, [rest, { deep: [{ kept: 1 }] }]);
    assert.deepEqual(kept[0]?.relayIds, ['7', '']);
    assert(kept[0] && !('idempotencyKey' in kept[0]));
  });

  it('is told of to the rules that have a part in it, at most five', async () => {
    const { rejections: made, noticed } = rejections();
    const elements = Array.from({ length: 8 }, (_, n) => ({ relayId: String(n) }));
    const at = (pointer: string) => ({ pointer, detail: 'is wrong' });
    made.keep(invalid([at('/1/x'), at('/3/x'), at('/1/y'), at('')]), request(elements));
    made.keep(invalid(elements.map((_, n) => at(`/${n}`))), request(elements));
    await made.settled('acme');
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

  it('is kept after the answer: nothing is asked of the store before', async () => {
    const { rejections: made, kept } = rejections();
    made.keep(invalid(), request([{}]));
    await Promise.resolve();
    assert.equal(kept.length, 0);
    await made.settled('acme');
    assert.equal(kept.length, 1);
  });

  it('that cannot be kept is logged, told of to nobody, and does not keep the next one from it', async () => {
    let failing = true;
    const {
      rejections: made,
      noticed,
      lines,
    } = rejections(async () => {
      if (!failing) return 'id';
      failing = false;
      throw new Error('the database is down');
    });
    made.keep(invalid(), request([{}]));
    made.keep(invalid(), request([{}]));
    await made.settled('acme');
    assert.equal(noticed.length, 1);
    assert.match(lines.join(), /a refused request could not be kept/);
  });

  it('in a flood is counted rather than kept, which is logged once; for other reasons there is room', async () => {
    const { rejections: made, kept, lines, counted } = rejections();
    const flood = async () => {
      for (let n = 0; n < 250; n += 1) made.keep(invalid(), request([{}]));
      await made.settled('acme');
    };
    await flood();
    await flood();
    assert.equal(kept.length, 100);
    assert.deepEqual([await counted('kept'), await counted('dropped')], [100, 400]);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"companyId":"acme","reason":"invalid-chain".*too many requests were refused/);
    made.keep(new Rejection('signature', 'unauthorized', 'No.'), request([{}]));
    await made.settled('acme');
    assert.equal(kept.length, 101);
  });

  it("of one company is not dropped, and does not wait, for another's flood", async () => {
    let release = (_id: string) => {};
    const stuck = new Promise<string>((resolve) => {
      release = resolve;
    });
    const kept: string[] = [];
    const { rejections: made } = rejections((request) => {
      if (request?.companyId === 'flooding') return stuck;
      return Promise.resolve(`id-${kept.push(request?.companyId ?? '')}`);
    });
    for (let n = 0; n < 500; n += 1) made.keep(invalid(), request([{}], 'flooding'));
    for (const companyId of ['one', 'two', 'two']) made.keep(invalid(), request([{}], companyId));
    await made.settled('one');
    await made.settled('two');
    assert.deepEqual(kept.toSorted(), ['one', 'two', 'two']);
    release('id');
    await made.settled('flooding');
  });

  it('with mistakes without end is kept with the first hundred', async () => {
    const { rejections: made, kept } = rejections();
    made.keep(invalid(Array.from({ length: 5000 }, (_, n) => ({ pointer: `/0/${n}`, detail: 'is wrong' }))), request([{}]));
    await made.settled('acme');
    assert.equal(kept[0]?.problem.errors?.length, 100);
  });
});
