/** Checks that secrets are only in their places: no history, log, error, notice or answer contains one. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readable, send, startStack, udf } from '../../end-to-end/stack.js';

/** This stack has no keys, so that the test can search histories. */
const stack = await startStack({ keyring: null });

/** A history with every payload decoded, as one text. */
async function history(workflowId: string): Promise<string> {
  const fetched = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return readable(fetched);
}

it("no history, log, notice or answer has a token or a connector's secret", async () => {
  const company = await stack.company();
  const secret = 'platform-secret-3f9a';
  await stack.store.companies.put(
    company.companyId,
    (stored) => ({
      ...stored,
      companyId: company.companyId,
      name: 'Secretive',
      timeZone: 'UTC',
      platform: { kind: 'http', baseUrl: stack.platform.url, auth: { type: 'bearer', token: secret } },
    }),
    { kind: 'admin' },
  );
  const accepted = await company.post([send('404404', { groupId: '501', comment: 'seen' }), udf('T', { delayInSeconds: '1' })]);
  assert.equal(accepted.status, 202);
  const answer = await accepted.text();
  const { chainId, workflowId } = JSON.parse(answer);
  await company.action(chainId, 0, 'needs-attention');
  await company.action(chainId, 1, 'done');
  const [notice] = await stack.mails(company.admin, 1);
  assert(notice);
  const refused = await company.post([send('1', { delayInSeconds: 'x' }), udf('T', { relayAccessToken: 'wrong-token-77' })]);
  assert.equal(refused.status, 401);
  const invalid = await company.post([send('1', { delayInSeconds: 'x', sendRadius: company.relayAccessToken })]);
  assert.equal(invalid.status, 400);

  const places = {
    answer,
    refusal: await refused.text(),
    problem: await invalid.text(),
    history: await history(workflowId),
    'history of the delayed action': await history(`${workflowId}:1`),
    notice: JSON.stringify(await stack.text(notice)),
    chain: JSON.stringify(await company.read(chainId)),
    log: stack.logged(),
  };
  assert(places.history.includes('seen'), 'the history was not decoded');
  for (const [place, text] of Object.entries(places)) {
    for (const hidden of [company.relayAccessToken, secret, 'wrong-token-77'])
      assert(!text.includes(hidden), `${hidden} is in the ${place}`);
  }
  assert(!places.log.includes(company.admin), 'the address of a contact is in the log');
  await company.steer(chainId, 'skip', 0);
  await company.ended(chainId);
});
