/** The webhooks of the demo platform, received by a server of the test. */

import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, beforeEach, describe, it } from 'node:test';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { events } from '../../../src/sandbox/platform/webhooks.js';
import { listen } from '../../cli/local-api.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

const received: string[] = [];
let statuses: number[] = []; // the statuses of the next answers; later answers have 202
const receiver = await listen(async (request, response) => {
  received.push(await text(request));
  response.writeHead(statuses.shift() ?? 202).end(`answer ${received.length}`);
});
const rule = `${receiver.url}/`;
const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
after(() => Promise.all([platform.close(), receiver.close()]));
const { url, state, webhooks } = platform;
webhooks.waits = { stepMs: 5, retryMs: 1 };

const press = (path: string, form: Record<string, string> = {}) =>
  fetch(`${url}/page/${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
const page = async () => (await fetch(url)).text();
const bodies = (count: number) =>
  eventually(`${count} webhooks`, async () => (received.length >= count ? received : new Unmet(received)));
const answers = (count: number) =>
  eventually('the answers', async () => {
    const known = [...state.deliveries.values()].flatMap(({ answers }) => answers);
    return known.length >= count ? known : new Unmet(known);
  });

describe('the webhooks of the demo platform', () => {
  beforeEach(async () => {
    await press('reset');
    state.rule = { url: rule, token: 'token-of-the-demo' };
    received.length = 0;
    statuses = [];
  });

  it('a new assignment starts the chain that widens, with the token that the page does not show', async () => {
    await press('assignments', { id: '2001' });
    const [body = ''] = await bodies(1);
    const chain = JSON.parse(body) as Record<string, string>[];
    assert.deepEqual(
      chain.map(({ platformAssignmentId, relayAccessToken }) => [platformAssignmentId, relayAccessToken]),
      chain.map(() => ['2001', 'token-of-the-demo']),
    );
    assert.match(chain.at(-1)?.body ?? '', /Assignment 2001 is still a draft/);
    assert.deepEqual(await answers(1), ['202 answer 1']);
    assert.match(await page(), /create 2001[\s\S]*202 answer 1/);
    assert.doesNotMatch(await page(), /token-of-the-demo/);
  });

  it('each button changes the status and sends the webhook of its event, with values pasted as text', async () => {
    for (const event of Object.keys(events))
      await press(`webhooks/${event}`, { url: rule, body: `${event}: \${custom_field_note}` });
    state.change({ id: '1001', customFields: { note: 'the "blue" door' } });
    for (const [event, status] of Object.entries(events)) {
      await press('assignments/1001', { event });
      assert.equal(state.assignments.get('1001')?.status, status);
    }
    const sent = Object.keys(events).map((event) => `${event}: the "blue" door`);
    assert.deepEqual([...(await bodies(sent.length))].sort(), sent.sort());
  });

  it('the event address of a rule gets the event as JSON', async () => {
    const [, list = ''] = /<textarea name="body"[^>]*>([^<]*)/.exec(await page()) ?? [];
    const shown = list.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('\n', '\r\n');
    await press('webhooks/create', { url: `${rule}co/demo/events/1`, body: shown });
    await press('assignments', { id: '2001' });
    const { event, assignment } = JSON.parse((await bodies(1))[0] ?? '');
    assert.deepEqual([event, assignment.id, assignment.status], ['create', '2001', 'draft']);
  });

  it('pastes the worker and the time of the check-in; an unknown variable stays', async () => {
    await press('webhooks/check in', { url: rule, body: '${resource_email} ${resource_state} ${checked_in_on} ${no_such}' });
    await press('assignments/1003', { event: 'accept' });
    await press('assignments/1003', { event: 'check in' });
    assert.match((await bodies(1))[0] ?? '', /^ada\.lund@workers\.example MN \d{4}-\d\d-\d\dT\S+Z \$\{no_such\}$/);
  });

  it('tries a delivery twice, and shows both answers', async () => {
    statuses = [503, 400, 500];
    await press('assignments', { id: '2001' });
    assert.deepEqual(await answers(2), ['503 answer 1', '400 answer 2']);
    await press('assignments', { id: '2002' });
    assert.deepEqual((await answers(4)).slice(2), ['500 answer 3', '202 answer 4']);
    await press('webhooks/create', { url: 'http://127.0.0.1:9', body: 'x' });
    await press('assignments', { id: '2003' });
    assert.match((await answers(6)).at(-1) ?? '', /^no answer: .*/);
    assert.equal(received.length, 4);
  });

  it('sends the token to no other address, and nothing without a body or an address', async () => {
    await press('webhooks/create', { url: `${rule}other`, body: '<RELAY_ACCESS_TOKEN>' });
    await press('assignments', { id: '2001' });
    assert.deepEqual(await bodies(1), ['<RELAY_ACCESS_TOKEN>']);
    await press('assignments/2001', { event: 'complete' });
    await press('webhooks/create', { url: '', body: 'x' });
    await press('assignments', { id: '2002' });
    assert.equal(state.deliveries.size, 1);
    assert.equal((await press('webhooks/create', { url: 'file:///etc/passwd', body: 'x' })).status, 400);
    assert.equal((await press('webhooks/no-such-event', { url: rule, body: 'x' })).status, 400);
  });

  it('plays a day: creates ten assignments, and changes the status of sent assignments at random', async () => {
    state.change({ id: '1003', status: 'sent' });
    await press('day');
    assert.match(await page(), /The day runs/);
    await eventually('the end of the day', async () => (webhooks.stepsLeft === 0 ? true : new Unmet(webhooks.stepsLeft)));
    assert.equal([...state.assignments.keys()].filter((id) => id > '2000').length, 10);
    assert.equal(state.assignments.get('1003')?.status, 'completed');
    assert.ok(state.assignments.get('1003')?.worker);
    assert.doesNotMatch(await page(), /The day runs/);
  });

  it('stops a day', async () => {
    await press('day');
    await press('day', { day: 'stop' });
    const { size } = state.assignments;
    webhooks.step(() => 1);
    assert.deepEqual([webhooks.stepsLeft, state.assignments.size], [0, size]);
  });
});
