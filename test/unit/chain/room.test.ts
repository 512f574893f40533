import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxRecipients } from '../../../src/chain/actions.js';
import type { ChainAction } from '../../../src/chain/chain.js';
import { maxActions } from '../../../src/chain/request.js';
import { hasRoomForOwn, isFull, isInline } from '../../../src/chain/room.js';

const update: ChainAction = { action: 'ticket_updateUDF', index: 0, relayId: '7', ticketId: 'T', field: 'F', value: 'v' };
const email = (bytes: number, count: number, index = 0): ChainAction => {
  const recipients = Array.from({ length: count }, (_, n) => `r${n}@a.example`);
  return { action: 'sendEmails', index, relayId: '7', recipients, subject: 's', body: 'b'.repeat(bytes), bodyHtml: '' };
};
/** Temporal ends a workflow with a larger history. */
const server = { events: 51_200, bytes: 50 * 1024 * 1024 };

describe('the room in a history', () => {
  const largest = Array.from({ length: maxActions }, (_, index) => email(500, maxRecipients, index));

  it("is enough for the largest chain, run once and with the relay's own tries", () => {
    assert.deepEqual(
      [isFull({ events: 3, bytes: 300_000 }, largest), hasRoomForOwn({ events: 3, bytes: 300_000 }, largest)],
      [false, true],
    );
  });

  const cases: [string, { events: number; bytes: number }, ChainAction[], { own: boolean; full: boolean }][] = [
    ['new', { events: 3, bytes: 3_000 }, [update], { own: true, full: false }],
    ['many own tries', { events: 20_001, bytes: 3_000 }, [update], { own: false, full: false }],
    ['large own tries', { events: 3, bytes: 20_000_001 }, [update], { own: false, full: false }],
    ['many retries', { events: 42_000, bytes: 3_000 }, [update], { own: false, full: true }],
    ['large retries', { events: 3, bytes: 40_000_000 }, [update], { own: false, full: true }],
    ['many retries, nothing left to do', { events: 41_999, bytes: 3_000 }, [], { own: false, full: false }],
    ['some tries, and much work left', { events: 12_000, bytes: 400_000 }, largest, { own: false, full: true }],
  ];
  for (const [name, history, open, { own, full }] of cases)
    it(name, () => assert.deepEqual([hasRoomForOwn(history, open), isFull(history, open)], [own, full]));

  it('is enough for the remaining work when retries are refused', () => {
    for (let events = 0; events < server.events; events += 100)
      if (!isFull({ events, bytes: 0 }, largest)) assert(events + largest.length * (6 * maxRecipients + 30) < server.events);
  });

  it('is enough for a copy of the e-mail for each recipient only if the copies are small', () => {
    const contents = (bytes: number) => ({ subject: '', body: 'b'.repeat(bytes), bodyHtml: '' });
    assert.deepEqual(
      [isInline(contents(2_000), 3), isInline(contents(2_000), 50), isInline(contents(250_000), 1)],
      [true, false, false],
    );
  });
});
