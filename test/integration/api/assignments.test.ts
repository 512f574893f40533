import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ConnectorError } from '../../../src/connectors/call.js';
import { assignmentNowSchema } from '../../../src/contract/assignment.js';
import { wholeApi } from '../../api/whole-api.js';

const admin = { kind: 'admin' } as const;
const title = 'Assignment 404 does not exist at the assignment platform';

/** A platform that counts its calls. */
let calls = 0;
const platform = {
  async getAssignment(assignmentId: string) {
    calls += 1;
    if (assignmentId === '404')
      throw new ConnectorError('permanent', 'GET /assignments/404 answered 404', { status: 404, title });
    if (assignmentId === '503') throw new ConnectorError('retryable', 'GET /assignments/503 answered 503', { status: 503 });
    return { status: 'draft', owner: 'not for everybody' };
  },
};

let api: Awaited<ReturnType<typeof wholeApi>>;
let key: string;
before(async () => {
  const connectors = { platformOf: () => platform, ticketingOf: () => assert.fail() };
  api = await wholeApi({ connectors: connectors as never });
  for (const companyId of ['acme', 'other'])
    await api.store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
  const made = await api.store.keys.create('acme', 'dana', admin, { role: 'read' });
  key = typeof made === 'object' ? made.key : assert.fail(made);
});
after(() => api.close());

async function read(assignmentId: string) {
  const { status, json } = await api.ask('GET', `/co/acme/assignments/${assignmentId}`, key);
  assert.equal(status, 200);
  return assignmentNowSchema.parse(json);
}

it('the route reads only the status of an assignment, and asks the platform once in ten seconds', async () => {
  const [one, other] = await Promise.all([read('1001'), read('1001')]);
  assert.equal(one?.status, 'draft');
  assert.deepEqual(Object.keys(one).sort(), ['assignmentId', 'readAt', 'status']);
  assert.deepEqual(other, one);
  assert.equal(calls, 1);
  await read('1002');
  assert.equal(calls, 2);
});

it('the route says why the assignment cannot be read', async () => {
  const { status, problem } = await read('404');
  assert.deepEqual([status, problem?.title, problem?.missing], [undefined, title, true]);
  const away = (await read('503')).problem;
  assert.deepEqual([away?.title, away?.missing], ['The assignment platform gave an error or no answer', false]);
  assert.equal(away?.message, 'GET /assignments/503 answered 503');
});

it('the route needs a key of the company', async () => {
  assert.equal((await api.ask('GET', '/co/acme/assignments/1001')).status, 401);
  assert.equal((await api.ask('GET', '/co/other/assignments/1001', key)).status, 401);
});
