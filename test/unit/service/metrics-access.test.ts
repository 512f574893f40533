import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Hono } from 'hono';
import { guardMetrics } from '../../../src/service/metrics-access.js';

const token = 'a-token-for-metrics';
const from = (remoteAddress: string, headers: Record<string, string>, ...tokens: (string | undefined)[]) =>
  new Hono()
    .use('/metrics', guardMetrics(...tokens))
    .get('/metrics', (c) => c.text('counted'))
    .request('/metrics', { headers }, { incoming: { socket: { remoteAddress } } });

for (const [remoteAddress, headers, tokens, status] of [
  ['127.0.0.1', {}, [undefined], 200],
  ['127.0.0.1', { 'x-forwarded-for': '198.51.100.7' }, [token], 401],
  ['10.0.0.5', {}, [undefined], 401],
  ['10.0.0.5', {}, [token], 401],
  ['10.0.0.5', { authorization: 'Bearer undefined' }, [undefined], 401],
  ['10.0.0.5', { authorization: 'Bearer another-token' }, [token], 401],
  ['10.0.0.5', { authorization: `Bearer ${token}` }, [undefined, token], 200],
] as const)
  it(`a request for a worker's metrics from ${remoteAddress} ${JSON.stringify(headers)}, tokens ${tokens}: ${status}`, async () => {
    const answer = await from(remoteAddress, headers, ...tokens);
    assert.equal(answer.status, status);
    if (status === 401) assert.doesNotMatch(await answer.text(), /counted/);
  });
