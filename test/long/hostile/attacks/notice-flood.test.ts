/** A company with a different failure for every request sends no more notices than its budget, and omits no failure. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, send, startStack, Unmet } from '../../../end-to-end/stack.js';
import { extent } from '../../../extent.js';

const requests = extent(60, 120);
/** In twenty seconds, this budget allows fifteen single notices, and a digest every four seconds. */
const budget = { notices: 20, seconds: 20 };
const stack = await startStack({ noticeBudget: budget, noticeDigestSeconds: 0 });

describe('a flood of notices', () => {
  it('is joined into digests, and every cause is reported', async () => {
    const company = await stack.company();
    const causes = Array.from({ length: requests }, (_, place) => {
      const letters = [...String(place).padStart(3, '0')].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('');
      return `flood_${letters}`;
    });
    const began = Date.now();
    for (let from = 0; from < requests; from += 20) {
      const some = causes.slice(from, from + 20);
      await Promise.all(some.map((cause) => company.start([send(`\${${cause}}`, { groupId: '501' })])));
    }
    const texts = new Map<string, string>();
    await eventually('every cause to be told', async () => {
      for (const message of await stack.inbox(company.admin))
        if (!texts.has(message.ID)) texts.set(message.ID, (await stack.text(message)).Text);
      const all = [...texts.values()].join('\n');
      const missing = causes.filter((cause) => !all.includes(cause));
      return missing.length === 0 ? true : new Unmet(`${missing.length} of them missing`);
    });
    // Each window that has begun can have one digest.
    const windows = Math.floor((Date.now() - began) / (budget.seconds * 1000)) + 1;
    assert.ok(texts.size <= budget.notices * windows, `${texts.size} messages in ${windows} windows`);
    const digests = [...texts.values()].filter((text) => /^There were too many notices/m.test(text));
    assert.ok(digests.length > 0, 'there is a digest');
    const { recipients } = stack.store.usage.of(company.companyId);
    assert.ok(recipients >= texts.size, 'messages count as recipients');
  });
});
