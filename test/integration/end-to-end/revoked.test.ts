/** A token is revoked, or a rule is disabled, during a request. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { startApiBehindProxy } from '../../end-to-end/grpc-proxy.js';
import { actor, eventually, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
type Company = Awaited<ReturnType<typeof stack.company>>;

/** An API that delays the starts of chains until the test releases them. */
const starts: (() => void)[] = [];
const api = await startApiBehindProxy(stack, (method) =>
  method === 'StartWorkflowExecution' ? new Promise((letGo) => starts.push(() => letGo(undefined))) : undefined,
);

const bodyOf = ({ relayId, relayAccessToken }: Company) => JSON.stringify([udf('T', { relayId, relayAccessToken })]);

async function revoke({ companyId, relayId }: Company): Promise<void> {
  const [token] = (await stack.store.tokens.list(companyId, relayId)) ?? [];
  assert(token && (await stack.store.tokens.revoke(companyId, relayId, token.tokenId, actor)));
}

/** Sends a request, and changes something after its authentication and before its chain has started. */
async function meanwhile(company: Company, change: () => Promise<unknown>) {
  const headers = { 'content-type': 'application/json' };
  const answer = fetch(`${api.url}/co/${company.companyId}/relay`, { method: 'POST', headers, body: bodyOf(company) });
  await eventually('the start to be held back', async () => starts.length > 0 || new Unmet(starts.length));
  await change();
  starts.shift()?.();
  const response = await answer;
  assert.equal(response.status, 202, await response.clone().text());
  return company.ended(acceptedSchema.parse(await response.json()).chainId);
}

describe('an authenticated request', () => {
  it('runs, although its token is revoked before its chain has started; the next request is refused', async () => {
    const company = await stack.company();
    const chain = await meanwhile(company, () => revoke(company));
    assert.deepEqual([chain.status, chain.actions[0]?.state], ['completed', 'done']);
    assert.equal((await company.post([udf('T')])).status, 401);
  });

  it('runs nothing for a rule that is disabled before its chain has started', async () => {
    const company = await stack.company();
    const { companyId, relayId } = company;
    const disable = () => stack.store.rules.update(companyId, relayId, (rule) => ({ ...rule, enabled: false }), actor);
    const chain = await meanwhile(company, disable);
    assert.deepEqual([chain.actions[0]?.state, chain.actions[0]?.reason], ['skipped', `rule ${relayId} is disabled`]);
  });
});

it("a request's token is checked when the whole request has arrived, not when it began", async () => {
  const company = await stack.company();
  const { companyId } = company;
  const body = bodyOf(company);
  const { host, hostname, port } = new URL(stack.links.api);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST /co/${companyId}/relay HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const answered = once(socket.setEncoding('utf8'), 'data');
  await new Promise((resolve) => socket.write(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body.slice(0, -1)}`, resolve));
  await revoke(company);
  socket.write(body.slice(-1));
  assert.match(String(await answered), /^HTTP\/1\.1 401 /);
  socket.destroy();
  await eventually('it to be kept', async () => {
    const { items } = await stack.store.rejected.list(companyId, { limit: 1 });
    return items[0]?.reason === 'token-revoked' || new Unmet(items);
  });
});
