import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createHttpTicketing } from '../../../src/connectors/ticketing/http.js';
import { failing } from '../failing.js';
import { answering, startHttp } from '../local-http.js';

const http = createHttpClient({ allowPrivateNetworks: true });
const server = await startHttp();
const ticketing = createHttpTicketing({ kind: 'http', baseUrl: server.url }, http);
const call = { timeoutMs: 5000, idempotencyKey: 'relay:acme:c1/2' };
after(() => http.close());

describe('the generic ticket system', () => {
  it('sets one field', async () => {
    server.answer = answering(204);
    await ticketing.updateField('T 1', { name: 'checkedIn', value: '2024-05-01' }, call);
    const { method, path, headers, body } = server.last();
    assert.deepEqual([method, path], ['PATCH', '/tickets/T%201']);
    assert.equal(body, '{"userDefinedFields":[{"name":"checkedIn","value":"2024-05-01"}]}');
    assert.equal(headers['idempotency-key'], call.idempotencyKey);
  });

  it('says what to check when it is not let in', async () => {
    server.answer = answering(403);
    const error = await failing(ticketing.updateField('T1', { name: 'a', value: 'b' }, call));
    assert.equal(
      error.message,
      `PATCH ${server.url}/tickets/T1 answered 403; check the auth of the company's ticketing settings`,
    );
  });

  it('does not patch the collection for the id ..', async () => {
    assert.equal((await failing(ticketing.updateField('..', { name: 'a', value: 'b' }, call))).kind, 'permanent');
  });
});
