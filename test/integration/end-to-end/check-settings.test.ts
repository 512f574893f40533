/** The check of a company's settings reports each result and changes nothing. */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { type Checked, checkResponse } from '../../../src/contract/company.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { autotaskCredentials, createAutotask } from '../../../src/sandbox/vendors/autotask.js';
import { serveVendor } from '../../../src/sandbox/vendors/vendor.js';
import { publish } from '../../api/rule-with-contents.js';
import { adminToken, startStack } from '../../end-to-end/stack.js';

const stack = await startStack();
const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };

function ask(companyId: string, body: object = {}): Promise<Response> {
  const at = `${stack.links.api}/admin/companies/${companyId}/check`;
  return fetch(at, { method: 'POST', headers, body: JSON.stringify(body) });
}
async function checked(companyId: string, body?: object): Promise<Record<string, Omit<Checked, 'part'>>> {
  const answer = await ask(companyId, body);
  assert.equal(answer.status, 200, await answer.clone().text());
  return Object.fromEntries(checkResponse.parse(await answer.json()).checked.map(({ part, ...seen }) => [part, seen]));
}
const worksOf = (seen: Awaited<ReturnType<typeof checked>>) =>
  Object.fromEntries(Object.entries(seen).map(([part, { works }]) => [part, works]));

it('valid settings work, and the check sends and changes nothing', async () => {
  const { companyId, admin } = await stack.company();
  const assignment = await stack.assignment();
  const seen = await checked(companyId, { assignmentId: assignment });
  assert.deepEqual(worksOf(seen), { platform: true, ticketing: true, mail: true, contacts: true, rules: true });
  assert.equal(seen.platform?.detail, `knows the assignment ${assignment}`);
  assert((await stack.calls(assignment, 'relay-check')).every(({ method }) => method === 'GET'));
  assert.deepEqual(await stack.inbox(admin), []);
});

it('each error says what is wrong and what to do', async () => {
  const { companyId } = await stack.company();
  const wrong = {
    platform: { kind: 'http', baseUrl: 'http://127.0.0.1:1/api' },
    mail: { smtpUrl: 'smtp://127.0.0.1:1' },
    ticketing: null,
  };
  const patch = { method: 'PATCH', headers, body: JSON.stringify(wrong) };
  assert.equal((await fetch(`${stack.links.api}/admin/companies/${companyId}`, patch)).status, 200);
  const seen = await checked(companyId);
  assert.deepEqual(worksOf(seen), { platform: false, ticketing: false, mail: false, contacts: true, rules: true });
  assert.match(seen.platform?.detail ?? '', /127\.0\.0\.1:1.*(refused|ECONNREFUSED)/);
  assert.match(seen.ticketing?.detail ?? '', /has no ticket system; set one with/);
  assert.match(seen.mail?.detail ?? '', /mail server 127\.0\.0\.1:1: .*refused/);
});

it('a failure has a title and a remedy, for groups, tickets and fields from the request and from the rules', async () => {
  const { companyId, relayId } = await stack.company();
  const { platform } = await checked(companyId, { assignmentId: '40404' });
  const { title, remedy } = platform ?? {};
  const missing = 'Assignment 40404 does not exist at the assignment platform';
  assert.deepEqual([title, remedy], [missing, 'Change the number, then retry']);
  const vendor = createAutotask();
  const { url, close } = await serveVendor(vendor);
  after(close);
  const connect = async (secret: string) => {
    const ticketing = { kind: 'autotask', ...autotaskCredentials, secret, baseUrl: url };
    const patch = { method: 'PATCH', headers, body: JSON.stringify({ ticketing }) };
    assert.equal((await fetch(`${stack.links.api}/admin/companies/${companyId}`, patch)).status, 200);
  };
  const ticketId = 'T20260105.0674';
  const setOf = (cfName: string) => ({ action: 'ticket_updateUDF', externalSystemTicketId: ticketId, cfName, cfValue: 'x' });
  await connect(autotaskCredentials.secret);
  const { ticketing: right } = await checked(companyId, { ticketId, fields: ['Site note', 'Arrival time'] });
  assert.match(
    right?.detail ?? '',
    /shows \d+ ticket fields, among them Site note, Arrival time\. The relay can read ticket T20260105\.0674\. \d+ of 10000 requests are left in this hour$/,
  );
  assert.deepEqual([right?.works, right?.title], [true, undefined]);
  for (const [body, wrong] of [
    [{ ticketId: 'T1' }, 'Ticket T1 does not exist at Autotask'],
    [{ fields: ['Site note', 'Parking'] }, 'There is no field "Parking" at Autotask'],
    [{ ticketId, fields: ['Imported from'] }, 'The relay cannot change "Imported from" at Autotask'],
  ] as const) {
    const { ticketing } = await checked(companyId, body);
    assert.deepEqual([ticketing?.works, ticketing?.title], [false, wrong]);
    assert.match(ticketing?.remedy ?? '', /^Change /);
  }
  await publish(stack.store, companyId, relayId, { actions: [setOf('Site note'), setOf('${event.name}')] });
  const { ticketing: named } = await checked(companyId);
  assert.match(
    named?.detail ?? '',
    /ticket fields, among them Site note\. To check that the relay may read tickets, enter the id/,
  );
  await publish(stack.store, companyId, relayId, { actions: [setOf('Site note'), setOf('Gone')] });
  const { ticketing: gone } = await checked(companyId, { fields: ['Site note'] });
  assert.deepEqual([gone?.works, gone?.title], [false, 'There is no field "Gone" at Autotask']);
  await connect('wrong');
  const { ticketing: refused } = await checked(companyId);
  assert.equal(refused?.title, 'Autotask does not accept the credentials');
  assert.ok(vendor.state.calls.every(({ method }) => method === 'GET' || method === 'POST'));
});

it('an assignment that the platform does not know is reported', async () => {
  const { companyId } = await stack.company();
  const { platform } = await checked(companyId, { assignmentId: '40404' });
  assert.equal(platform?.works, false);
  assert.match(platform?.detail ?? '', /answered 404/);
});

it('an unknown company has no settings', async () => {
  const answer = await ask('nobody');
  assert.equal(answer.status, 404);
  assert.match(problemSchema.parse(await answer.json()).detail, /company nobody/);
});
