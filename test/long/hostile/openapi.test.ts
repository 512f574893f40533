/**
 * Schemathesis against the whole relay: as an operator, with a key of each role, and without credentials. `npm run test:openapi
 * [seconds for each, 3] [part of a caller's name]`, such as `npm run test:openapi 600 manage`.
 */

import assert from 'node:assert/strict';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { after, describe, it } from 'node:test';
import { roles } from '../../../src/contract/credential.js';
import { startShownChains } from '../../end-to-end/shown-chains.js';
import { actor, adminToken, startStack, udf } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';
import { findSchemathesis, visit } from '../../hostile/schemathesis.js';

const [asked = extent('3', '15'), who = ''] = process.argv.slice(2);
const schemathesis = await findSchemathesis();

if ('missing' in schemathesis) it('Schemathesis', { skip: schemathesis.missing }, () => {});
else describe('Schemathesis finds no error', () => attack(schemathesis.python));

async function attack(python: string): Promise<void> {
  stayHere();
  const stack = await startStack({ retryBudgetSeconds: 600 });
  const { company, chains } = await startShownChains(stack);
  const { companyId } = company;
  const [rule] = (await stack.store.rules.list(companyId, { limit: 1 })).items;
  assert(rule);
  const { relayId } = rule;
  const made = await stack.store.rules.create(companyId, { name: 'Doomed', onFailure: 'hold', onUnknown: 'resend' }, actor);
  const doomed = await stack.company();
  assert(typeof made === 'object');
  const whole = stack.companyOf({ companyId, relayId: made.rule.relayId, relayAccessToken: made.relayAccessToken });
  assert.equal((await whole.post([{ ...udf('7003'), cfValu: 'yes' }])).status, 400);
  const headers = { authorization: `Bearer ${adminToken}` };
  const first = async (path: string, id: string): Promise<string> => {
    const answer = await fetch(`${stack.links.api}/co/${companyId}/${path}`, { headers });
    return String(((await answer.json()) as { items: Record<string, unknown>[] }).items[0]?.[id]);
  };
  const parameters = {
    'path.companyId': companyId,
    'path.relayId': relayId,
    'path.chainId': chains.held,
    'path.causeId': await first('causes', 'causeId'),
    'path.rejectedId': await first('rejected', 'rejectedId'),
  };
  // Operations that delete something or change connected systems use separate targets. The other targets stay until the end.
  const other = { 'path.companyId': doomed.companyId };
  const instead = {
    deleteCompany: other,
    eraseCompany: other,
    putCompany: other,
    changeCompany: other,
    deleteRule: { 'path.relayId': made.rule.relayId },
    cancelChain: { 'path.chainId': chains.delayed },
  };
  const keyOf = async (role: (typeof roles)[number]) => {
    const made = await stack.store.keys.create(companyId, `who may ${role}`, actor, { role });
    assert(typeof made === 'object');
    return made.key;
  };
  const bearers: Record<string, string | undefined> = { 'an operator': adminToken };
  for (const role of roles) bearers[`a key with the role ${role}`] = await keyOf(role);
  bearers.nobody = undefined;

  const isAsked = (name: string) => name.includes(who) && (who !== '' || extent(/operator|steer|nobody/, /./).test(name));
  for (const [name, bearer] of Object.entries(bearers).filter(([name]) => isAsked(name)))
    it(`as ${name}`, async (t) => {
      const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
      const { said, isClean } = await visit({
        python,
        url: stack.links.api,
        bearer,
        seconds: Number(asked),
        seed,
        parameters,
        instead,
      });
      assert(isClean, `FUZZ_SEED=${seed}\n${said}`);
      t.diagnostic(/Test cases:\s+(.+)/.exec(said)?.[1] ?? assert.fail(said));
    });
}

/** The test resolves no invented host names. */
function stayHere(): void {
  const { lookup } = dns;
  const refused: typeof lookup = Object.assign(
    (name: string, ...rest: unknown[]) => {
      if (name === 'localhost' || isIP(name)) return Reflect.apply(lookup, dns, [name, ...rest]);
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      setImmediate(rest.at(-1) as (error: Error) => void, error);
    },
    { __promisify__: lookup.__promisify__ },
  );
  dns.lookup = refused;
  syncBuiltinESMExports();
  after(() => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  });
}
