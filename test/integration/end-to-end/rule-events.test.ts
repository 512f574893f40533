/** Events of rules with contents, from the POST to the effect: what runs, what a repetition gets, and what people are told. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedEventSchema, notApplicableSchema } from '../../../src/contract/rule-event.js';
import { lastEvent, publish, setDoor } from '../../api/rule-with-contents.js';
import { actor, adminToken, startStack } from '../../end-to-end/stack.js';

const stack = await startStack();

const contentsOf = (cfValue: string, when = 'event.status == "created"') => ({
  when,
  variables: { ticket: { path: 'workorder.id', missing: 'refuse' } },
  actions: [
    { action: 'ticket_updateUDF', externalSystemTicketId: '${ticket}', cfName: 'Field', cfValue },
    { action: 'ticket_updateUDF', externalSystemTicketId: '${ticket}', cfName: 'Later', cfValue: 'x', delayInSeconds: '1' },
  ],
});

async function ruleWith(contents: object, door: Record<string, unknown> = {}) {
  const company = await stack.company();
  const { companyId, relayId, relayAccessToken } = company;
  await publish(stack.store, companyId, relayId, contents);
  await setDoor(stack.store, companyId, relayId, door);
  const ticket = `T-${companyId}`;
  const event = { status: 'created', workorder: { id: ticket }, n: 1 };
  const send = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${stack.links.api}/co/${companyId}/events/${relayId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${relayAccessToken}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      replayed: response.headers.get('idempotency-replayed'),
      text,
      json: () => JSON.parse(text),
    };
  };
  const ask = async (path: string, method = 'GET', body?: object) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const response = await fetch(`${stack.links.api}/co/${companyId}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  const publishAgain = (next: object) => publish(stack.store, companyId, relayId, next);
  return { company, companyId, relayId, ticket, event, send, ask, publishAgain };
}
const key = (value: string) => ({ 'idempotency-key': value });

describe('an event', () => {
  it('runs the actions of the published version; the chain and the list name this version', async () => {
    const { company, companyId, relayId, ticket, event, send, ask } = await ruleWith(contentsOf('was ${event.status}'));
    const sent = await send(event);
    assert.equal(sent.status, 202, sent.text);
    const { chainId, eventId, version } = acceptedEventSchema.parse(sent.json());
    const chain = await company.ended(chainId);
    assert.deepEqual([chain.status, chain.rule], ['completed', { relayId, version, eventId }]);
    assert.match(JSON.stringify((await stack.calls(ticket))[0]?.body), /was created/);
    const { json } = await ask('/chains');
    assert.deepEqual(
      json.items.map(({ chainId, rule }: { chainId: string; rule: unknown }) => [chainId, rule]),
      [[chainId, { relayId, version, eventId }]],
    );
    const stored = await lastEvent(stack.store, companyId, relayId);
    assert.deepEqual([stored?.eventId, stored?.chainId, stored?.body], [eventId, chainId, JSON.stringify(event)]);
    const list = await company.ended(
      (await company.start([{ ...contentsOf('v').actions[0], externalSystemTicketId: ticket }])).chainId,
    );
    assert.equal(list.rule, undefined);
  });

  it('that cannot be read is reported, with the mistake and without its tokens', async () => {
    const { company, send } = await ruleWith(contentsOf('v'));
    assert.equal((await send(`{"note":"the "blue" door","t":"${company.relayAccessToken}"}`)).status, 400);
    const [mail] = await stack.mails(company.admin, 1);
    const { Text } = await stack.text(mail ?? assert.fail());
    assert.match(mail?.Subject ?? '', /the event cannot be read/);
    for (const part of ['`blue`', `/companies/${company.companyId}/refused/`]) assert(Text.includes(part), Text);
    assert(!Text.includes(company.relayAccessToken) && !Text.includes('proposed'), Text);
  });
});

describe('a repeated event', () => {
  it('gets the first answer with the version that ran, even if a new version is published; with a header or dedupeBy', async () => {
    const ways: [Record<string, unknown>, Record<string, string>][] = [
      [{}, key('one')],
      [{}, { 'webhook-id': 'msg_1' }],
      [{ dedupeBy: 'workorder.id' }, {}],
    ];
    for (const [door, headers] of ways) {
      const { company, ticket, event, send, publishAgain } = await ruleWith(contentsOf('first'), door);
      const first = await send(event, headers);
      assert.deepEqual([first.status, first.replayed], [202, null], first.text);
      const { chainId } = first.json();
      const later: [string, object][] = [
        ['the same version', contentsOf('first')],
        ['other actions', { ...contentsOf('second'), actions: contentsOf('second').actions.slice(1) }],
        ['not applicable', contentsOf('third', 'event.status == "draft"')],
        ['refused', { ...contentsOf('fourth'), variables: { ticket: { path: 'other', missing: 'refuse' } } }],
        ['an expression that fails', contentsOf('fifth', 'event.missing == 1')],
      ];
      for (const [what, contents] of later) {
        await publishAgain(contents);
        const again = await send(event, headers);
        assert.deepEqual([again.status, again.replayed], [200, 'true'], `${what}: ${again.text}`);
        assert.deepEqual(again.json(), first.json(), what);
        if (what === 'other actions') await company.ended(chainId);
      }
      assert.equal(await stack.effects(ticket), 2);
    }
  });

  it('makes one chain if twenty arrive while a version is published; all get the same answer', async () => {
    const { company, ticket, event, send, publishAgain } = await ruleWith(contentsOf('one'));
    const [published, ...sent] = await Promise.all([
      publishAgain(contentsOf('two')),
      ...Array.from({ length: 20 }, () => send(event, key('twenty'))),
    ]);
    assert.equal(published, 2);
    assert.deepEqual(sent.map(({ status }) => status).sort(), [...Array(19).fill(200), 202]);
    for (const { json } of sent) assert.deepEqual(json(), sent[0]?.json());
    const { chainId, version } = acceptedEventSchema.parse(sent[0]?.json());
    assert.equal((await company.ended(chainId)).rule?.version, version);
    assert.equal(await stack.effects(ticket), 2);
  });

  it('with another body under the same key is refused and kept, also if the new version does not apply to it', async () => {
    const { company, event, send, ask, publishAgain } = await ruleWith(contentsOf('v'));
    const { chainId } = (await send(event, key('k'))).json();
    assert.equal((await send({ ...event, n: 2 }, key('k'))).status, 422);
    await publishAgain(contentsOf('v', 'event.status == "draft"'));
    assert.equal((await send({ ...event, n: 3 }, key('k'))).status, 422);
    assert.equal((await send(` ${JSON.stringify(event)}`, key('k'))).status, 422);
    const { json } = await ask('/rejected');
    assert.deepEqual(
      json.items.map(({ reason }: { reason: string }) => reason),
      Array(3).fill('idempotency-key-reused'),
    );
    assert.equal((await company.ended(chainId)).status, 'completed');
    // A person can resend the refused request, as another event.
    await publishAgain(contentsOf('v'));
    const resent = await ask(`/rejected/${json.items[0].rejectedId}/resend`, 'POST');
    assert.equal(resent.status, 202, JSON.stringify(resent));
    assert.notEqual(resent.json.chainId, chainId);
  });

  it('that was refused, and that a person then sent again, gets the answer of the chain that the person started', async () => {
    const failing = contentsOf('v', 'event.missing == 1');
    const { company, ticket, event, send, ask, publishAgain } = await ruleWith(failing, { dedupeBy: 'n' });
    assert.equal((await send(event)).status, 400);
    await publishAgain(contentsOf('v'));
    const [{ rejectedId }] = (await ask('/rejected')).json.items;
    const resent = await ask(`/rejected/${rejectedId}/resend`, 'POST');
    assert.deepEqual([resent.status, resent.json.version], [202, 2]);
    const again = await send(event);
    assert.deepEqual([again.status, again.replayed, again.json().chainId], [200, 'true', resent.json.chainId], again.text);
    assert.equal(again.json().eventId, resent.json.eventId);
    assert.equal((await send({ ...event, status: 'draft', n: 2 })).json().applies, false);
    assert.equal((await company.ended(resent.json.chainId)).status, 'completed');
    assert.equal(await stack.effects(ticket), 2);
  });

  it('that was not applicable gets the same answer again; a new event of a disabled rule is refused', async () => {
    const { companyId, relayId, event, send, publishAgain } = await ruleWith(contentsOf('v', 'event.status == "draft"'));
    const first = await send(event, key('k'));
    const { version } = notApplicableSchema.parse(first.json());
    assert.equal(version, 1);
    await publishAgain(contentsOf('v'));
    const again = await send(event, key('k'));
    assert.deepEqual([again.status, again.replayed, again.json()], [200, 'true', first.json()]);
    await stack.store.rules.update(companyId, relayId, (rule) => ({ ...rule, enabled: false }), actor);
    assert.equal((await send(event, key('other'))).status, 401);
  });
});
