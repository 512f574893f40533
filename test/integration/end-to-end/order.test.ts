/** Order, delays and conditions. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { adminToken, email, send, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

describe('order', () => {
  it('immediate actions run strictly in array order, even if the first is slow', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const ticket = `T-${company.companyId}`;
    await stack.breakPlatform({ delayMs: 800, times: 1, path: 'send' });
    const { chainId } = await company.start([
      send(assignment, { groupId: '501' }),
      udf(ticket, { cfValue: 'second' }),
      send(assignment, { groupId: '502' }),
    ]);
    await company.ended(chainId);
    const calls = await stack.calls(assignment, ticket);
    // On a busy machine, the relay may repeat the slow call with the same key. Such a repetition does not count.
    const first = calls.filter(({ repeat }) => !repeat);
    assert.deepEqual(
      first.map(({ body }) => body?.groupIds ?? 'ticket'),
      [['501'], 'ticket', ['502']],
    );
    await stack.heal();
  });

  it('a delayed action at the first place does not delay the other actions', async () => {
    const company = await stack.company();
    const ticket = `T-${company.companyId}`;
    const { chainId, receivedAt, actions } = await company.start([
      udf(ticket, { cfValue: 'late', delayInSeconds: '2' }),
      udf(ticket, { cfValue: 'now' }),
    ]);
    assert.equal(Date.parse(actions[0]?.runAt ?? '') - Date.parse(receivedAt), 2000);
    const early = await company.action(chainId, 1, 'done');
    assert.equal(early.actions[0]?.state, 'scheduled');
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'done']);
    const values = (await stack.calls(ticket)).map(({ body }) => JSON.stringify(body));
    assert(values[0]?.includes('now') && values[1]?.includes('late'));
  });

  it('actions with the same delay run in array order', async () => {
    const company = await stack.company();
    const ticket = `T-${company.companyId}`;
    const { chainId } = await company.start(
      ['a', 'b', 'c', 'd'].map((value) => udf(ticket, { cfValue: value, delayInSeconds: '1' })),
    );
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'done', 'done', 'done']);
    const values = (await stack.calls(ticket)).map(({ body }) => /"value":"(.)"/.exec(JSON.stringify(body))?.[1]);
    assert.deepEqual(values, ['a', 'b', 'c', 'd']);
  });

  it('"0" and a JSON number are read as delays', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([
      udf(`T-${company.companyId}`, { delayInSeconds: '0' }),
      udf(`T-${company.companyId}`, { delayInSeconds: 1 }),
    ]);
    const chain = await company.ended(chainId);
    assert.equal(Date.parse(chain.actions[1]?.runAt ?? '') - Date.parse(chain.receivedAt), 1000);
    const { events } = await stack.client.workflow.getHandle(chain.workflowId).fetchHistory();
    const children = events?.filter(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child) ?? [];
    assert.equal(children.length, 1, 'an immediate action needs no child workflow');
  });
});

describe('conditions', () => {
  it('are evaluated when the action runs: the status changes during the delay', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment({ status: 'draft' });
    const { chainId } = await company.start([
      email(['nobody@example.com'], { platformAssignmentId: assignment, actionCondition: 'status==draft', delayInSeconds: '3' }),
      udf(`T-${company.companyId}`, { platformAssignmentId: assignment, actionCondition: 'status == "draft"' }),
    ]);
    await company.action(chainId, 1, 'done');
    await stack.setStatus(assignment, 'accepted');
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['skipped', 'done']);
    assert.equal(chain.actions[0]?.reason, 'status was "accepted"');
    assert.equal(chain.status, 'completed');
  });

  it('read any property, read incomingValue without a call, and say what is missing', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const about = (actionCondition: string, more = {}) =>
      udf('T', { platformAssignmentId: assignment, actionCondition, ...more });
    const { chainId } = await company.start([
      about('location.zip==55401'),
      about('location.zipp==55401'),
      about('location.zip!=55401'),
      udf('T', { actionCondition: 'incomingValue==MN', incomingValue: 'MN' }),
      udf('T', { actionCondition: 'incomingValue==MN', incomingValue: 'WI' }),
    ]);
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'skipped', 'skipped', 'done', 'skipped']);
    assert.equal(chain.actions[1]?.reason, 'location.zipp: no such property');
    assert.equal((await stack.calls(assignment)).length, 3);
    // The assignment itself is never in a history.
    const history = JSON.stringify(await stack.client.workflow.getHandle(chain.workflowId).fetchHistory());
    assert(!history.includes(Buffer.from('Nicollet').toString('base64').slice(0, -2)));
  });
});

describe('effects', () => {
  it('a send reaches the union of groupId and sendToGroups, each once, in order', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const { chainId } = await company.start([
      send(assignment, { groupId: '502', sendToGroups: '501, 502,,503', sendRadius: '12.5' }),
      send(assignment),
    ]);
    await company.ended(chainId);
    assert.deepEqual(
      (await stack.calls(assignment)).map(({ body }) => body),
      [{ groupIds: ['502', '501', '503'], radiusMiles: 12.5 }, { groupIds: [] }],
    );
  });

  it('an e-mail is one message for each recipient, who sees no other recipient', async () => {
    const company = await stack.company();
    const [a, b] = [`a@${company.companyId}.example`, `b@${company.companyId}.example`];
    const { chainId, warnings } = await company.start([
      email([`${a}, "Doe, Jane" <${b}>`, a, 'nonsense', ''], { subject: 'Hello', bodyHtml: '<b>as written</b>' }),
    ]);
    assert.deepEqual(
      warnings.map(({ pointer }) => pointer),
      ['/0/emails', '/0/emails/3'],
    );
    const chain = await company.ended(chainId);
    assert.equal(chain.actions[0]?.result?.recipients, 2);
    for (const address of [a, b]) {
      const [message, ...others] = await stack.inbox(address);
      assert(message);
      assert.equal(others.length, 0);
      assert.deepEqual(
        message.To.map(({ Address }) => Address),
        [address],
      );
      assert.match((await stack.text(message)).HTML, /<b>as written<\/b>/);
    }
  });

  it("a timestamp follows the pattern, in the company's zone when the action runs", async () => {
    const company = await stack.company();
    const ticket = `T-${company.companyId}`;
    const { chainId } = await company.start([
      udf(ticket, { cfValue: '1709672829', cfTargetDateFormat: "yyyy-MM-dd'T'HH:mm z", delayInSeconds: '2' }),
    ]);
    await stack.store.companies.put(
      company.companyId,
      (stored) => ({
        ...stored,
        companyId: company.companyId,
        name: 'Moved',
        timeZone: 'America/New_York',
        ticketing: { kind: 'http', baseUrl: stack.platform.url },
      }),
      { kind: 'admin' },
    );
    await company.ended(chainId);
    const [call] = await stack.calls(ticket);
    assert.deepEqual(call?.body, { userDefinedFields: [{ name: 'Field', value: '2024-03-05T16:07 EST' }] });
  });

  it('an action is skipped if its rule is disabled in the meantime', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf(`T-${company.companyId}`, { delayInSeconds: '2' })]);
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled: false }), {
      kind: 'admin',
    });
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['skipped']);
    assert.match(chain.actions[0]?.reason ?? '', /disabled/);
  });
});

it('only operators get links to the Web UI, because it decodes payloads only for operators', async () => {
  const company = await stack.company();
  const { companyId } = company;
  const key = await stack.store.keys.create(companyId, 'console', { kind: 'admin' }, { role: 'manage' });
  assert(typeof key === 'object');
  const linksFor = async (headers: Record<string, string>) => {
    const response = await company.post([udf('T')], headers);
    assert.equal(response.status, 202);
    return acceptedSchema.parse(await response.json()).links;
  };
  const { webUi } = stack.links;
  assert.ok((await linksFor({ authorization: `Bearer ${adminToken}` })).webUi?.startsWith(`${webUi}/workflows/`));
  for (const headers of [{}, { authorization: `Bearer ${key.key}` }, { authorization: 'Bearer somebody' }])
    assert.deepEqual(Object.keys(await linksFor(headers as Record<string, string>)), ['chain']);

  const { chainId } = await company.start([send('404404')]);
  await company.action(chainId, 0, 'needs-attention');
  const at = `${stack.links.api}/co/${companyId}`;
  const bulk = async (more: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const filter = { chainIds: [chainId] };
    const body = JSON.stringify({ verb: 'retry', filter, ...more });
    return (await (await fetch(`${at}/chains/bulk`, { method: 'POST', headers, body })).json()) as Record<string, unknown>;
  };
  const { bulkId } = await bulk({ confirm: (await bulk({})).count });
  for (const path of ['', '/chains', `/chains/${chainId}`, `/chains/${chainId}/actions/0/notice`, `/chains/bulk/${bulkId}`]) {
    const textFor = async (bearer: string) => {
      const response = await fetch(at + path, { headers: { authorization: `Bearer ${bearer}` } });
      assert.equal(response.status, 200, path);
      return response.text();
    };
    assert.match(await textFor(adminToken), /\/web-ui\/workflows/, path);
    assert.doesNotMatch(await textFor(key.key), /web-?ui/i, path);
  }
});
