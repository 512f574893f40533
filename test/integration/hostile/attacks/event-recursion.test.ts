/** Event streams that request event streams, in any spelling. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminToken, wholeApi } from '../../../api/whole-api.js';

describe('an event stream that requests itself', () => {
  it('is refused in every spelling, and makes no request', async () => {
    const api = await wholeApi();
    try {
      await api.ask('PUT', '/admin/companies/acme', adminToken, { name: 'Acme', notify: { emails: ['ops@example.com'] } });
      for (const name of ['events', '%65vents', '%2565vents', 'event%73', 'x/../events', './events', 'events/', 'events%3F']) {
        let path = '/co/acme';
        for (let depth = 0; depth < 5; depth += 1) path = `/co/acme/${name}?path=${encodeURIComponent(path)}`;
        for (const first of ['', `path=${encodeURIComponent('/co/acme')}&`]) {
          const { status, json } = await api.ask('GET', `/co/acme/events?${first}path=${encodeURIComponent(path)}`, adminToken);
          assert.deepEqual([status, json.type], [400, '/problems/invalid-query'], `${first}${path}`);
        }
      }
      const asked = api.logged().filter(({ route, msg }) => msg === 'request answered' && /events/.test(String(route)));
      assert.equal(asked.length, 16, 'no request made another');
    } finally {
      await api.close();
    }
  });
});
