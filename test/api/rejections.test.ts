import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rejections } from '../../src/api/rejections.js';
import type { RuleNotice } from '../../src/contract/notices.js';
import { Rejection } from '../../src/contract/problem.js';
import { createLog } from '../../src/service/telemetry.js';
import type { NewRejectedRequest } from '../../src/store/rejected.js';

/** Rejections over a store that keeps what it is given, or does as told. */
function rejections(keep?: () => Promise<string | undefined>) {
  const kept: NewRejectedRequest[] = [];
  const noticed: RuleNotice[] = [];
  const lines: string[] = [];
  const made = new Rejections({
    store: { rejected: { keep: keep ?? (async (request) => `id-${kept.push(request)}`) } },
    notices: { start: (notice) => noticed.push(notice) },
    taskQueue: 'relay',
    log: createLog('info', { write: (line) => lines.push(line) }),
  });
  return { rejections: made, kept, noticed, lines };
}

const invalid = (errors = [{ pointer: '/0/x', detail: 'is wrong' }]) =>
  new Rejection('invalid-chain', 'invalid-chain', 'Nothing has run.', { errors });
const request = (elements: Record<string, unknown>[]) => ({ companyId: 'acme', elements });

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
    await made.settled();
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
    await made.settled();
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
    await made.settled();
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
    await made.settled();
    assert.equal(noticed.length, 1);
    assert.match(lines.join(), /a refused request could not be kept/);
  });

  it('in a flood is counted rather than kept', async () => {
    const { rejections: made, kept, lines } = rejections();
    for (let n = 0; n < 250; n += 1) made.keep(invalid(), request([{}]));
    await made.settled();
    assert.equal(kept.length, 100);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"dropped":150/);
    made.keep(invalid(), request([{}]));
    await made.settled();
    assert.equal(kept.length, 101);
  });

  it('with mistakes without end is kept with the first hundred', async () => {
    const { rejections: made, kept } = rejections();
    made.keep(invalid(Array.from({ length: 5000 }, (_, n) => ({ pointer: `/0/${n}`, detail: 'is wrong' }))), request([{}]));
    await made.settled();
    assert.equal(kept[0]?.problem.errors?.length, 100);
  });
});
