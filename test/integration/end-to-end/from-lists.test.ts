/** A rule that got lists of actions becomes a rule with contents, which runs the next event. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { draftResponse, fromListsResponse, versionSchema } from '../../../src/contract/rule-contents.js';
import { acceptedEventSchema, wholeEventSchema } from '../../../src/contract/rule-event.js';
import { adminToken, email, eventually, send, startStack, Unmet } from '../../end-to-end/stack.js';

const stack = await startStack();

it('the relay makes contents from lists, publishes the contents, runs an event, and runs the event again', async () => {
  const company = await stack.company();
  const { companyId, relayId, relayAccessToken } = company;
  const rule = `${stack.links.api}/admin/companies/${companyId}/rules/${relayId}`;
  const ask = async (method: string, url: string, body?: object, bearer = adminToken) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, json: await response.json() };
  };
  const [one, two, three] = [await stack.assignment(), await stack.assignment(), await stack.assignment()];
  const list = (id: string, to: string) => [send(id), email([to], { subject: `Sent ${id}` })];
  const chains = [];
  for (const [id, to] of [
    [one, 'one@lists.example'],
    [two, 'two@lists.example'],
  ] as const)
    chains.push((await company.start(list(id, to))).chainId);
  for (const chainId of chains) await company.ended(chainId);

  const chosen = fromListsResponse.parse((await ask('POST', `${rule}/draft/from-lists`, { chainIds: chains })).json);
  assert.deepEqual(Object.keys(chosen.values).sort(), ['assignment_id', 'owner_email']);
  const made = await eventually('the chains in the list', async () => {
    const { status, json } = await ask('POST', `${rule}/draft/from-lists`, {});
    const found = status === 200 ? fromListsResponse.parse(json) : undefined;
    return found?.values.assignment_id?.length === 2 ? found : new Unmet(json);
  });
  assert.deepEqual(new Set(made.values.assignment_id), new Set([one, two]));
  assert.equal(made.contents.actions[1]?.subject, 'Sent ${assignment_id}');
  assert.equal((await ask('POST', `${rule}/draft/from-lists`, { chainIds: ['none'] })).status, 404);

  const saved = draftResponse.parse((await ask('PUT', `${rule}/draft`, { revision: 0, contents: made.contents })).json);
  assert.deepEqual(saved.problems, []);
  const { version } = versionSchema.parse((await ask('POST', `${rule}/publish`, { revision: saved.revision })).json);

  const event = { assignment_id: three, owner_email: 'three@lists.example' };
  const came = await ask('POST', `${stack.links.api}/co/${companyId}/events/${relayId}`, event, relayAccessToken);
  assert.equal(came.status, 202, JSON.stringify(came.json));
  const ran = acceptedEventSchema.parse(came.json);
  assert.equal(ran.version, version);
  await company.ended(ran.chainId);
  await stack.mails('three@lists.example', 1);

  const stored = await eventually('the event', async () => {
    const { status, json } = await ask('GET', `${rule}/events/${ran.eventId}`);
    return status === 200 ? wholeEventSchema.parse(json) : new Unmet(json);
  });
  assert.deepEqual([stored.chainId, stored.event, stored.variables], [ran.chainId, event, event]);
  assert.equal((await ask('POST', `${rule}/events/${ran.eventId}/resend`, {})).status, 409);
  const again = await ask('POST', `${rule}/events/${ran.eventId}/resend`, { confirm: true });
  assert.equal(again.status, 202, JSON.stringify(again.json));
  const second = acceptedEventSchema.parse(again.json);
  assert.notEqual(second.chainId, ran.chainId);
  await stack.mails('three@lists.example', 2);
  assert.equal((await company.read(second.chainId)).rule?.version, version);
});
