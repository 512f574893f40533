import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceUrl } from '../../src/connectors/resource-url.js';

describe('resourceUrl', () => {
  const cases: [base: string, segments: string[], expected: string][] = [
    ['https://h.example', ['assignments', 'A1'], 'https://h.example/assignments/A1'],
    ['https://h.example/', ['assignments', 'A1', 'send'], 'https://h.example/assignments/A1/send'],
    ['https://h.example/api/v2', ['tickets', '7'], 'https://h.example/api/v2/tickets/7'],
    ['https://h.example/api/v2//', ['tickets', '7'], 'https://h.example/api/v2/tickets/7'],
    ['https://h.example/api?key=k#top', ['tickets', '7'], 'https://h.example/api/tickets/7?key=k'],
    ['https://h.example', ['assignments', 'a/b?c#d%2e é'], 'https://h.example/assignments/a%2Fb%3Fc%23d%252e%20%C3%A9'],
    ['https://h.example', ['assignments', '../admin', 'send'], 'https://h.example/assignments/..%2Fadmin/send'],
    ['https://h.example', ['assignments', '...'], 'https://h.example/assignments/...'],
    ['https://h.example', ['assignments', '%2e%2e'], 'https://h.example/assignments/%252e%252e'],
  ];
  for (const [base, segments, expected] of cases) {
    it(`${base} + ${segments.join(' ')}`, () => assert.equal(resourceUrl(base, ...segments).href, expected));
  }
  for (const id of ['', ' ', '.', '..', '\ud800']) {
    it(`refuses ${JSON.stringify(id)}`, () =>
      assert.throws(() => resourceUrl('https://h.example', 'assignments', id, 'send'), {
        name: 'ConnectorError',
        kind: 'permanent',
      }));
  }
});
