/**
 * All parts that offer or refuse a verb must agree with chain/allowed-verbs.ts, for every state of an action in every kind of
 * chain.
 */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { decisionForm } from '../../../src/api/hold.js';
import { bulkVerbs, refusalOf, steeringVerbs, verbsFor } from '../../../src/chain/allowed-verbs.js';
import { actionsMeant } from '../../../src/contract/bulk.js';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { Problem } from '../../../src/contract/problem.js';
import { standingWords } from '../../../src/notices/chain-words.js';
import { type SteerOptions, steerAction } from '../../../src/temporal/steer.js';
import { everyAction as actions, everyChain as chains, links, troubled } from '../../chain/every-chain.js';
import { type LocalApi, scripted } from '../../cli/local-api.js';
import { relay } from '../../cli/scripted-terminal.js';
import { forgetful } from '../../hostile/api.js';

const each = (check: (chain: ChainResource) => unknown) => async () => {
  for (const chain of chains) await check(chain);
};

describe('one table decides about every action of every chain:', () => {
  let api: LocalApi;
  let shown: ChainResource | undefined;
  before(async () => {
    api = await scripted(() => ({ body: shown }));
  });
  after(() => api.close());

  it(
    'the API',
    each(async (chain) => {
      /** The API audits an allowed verb before the verb runs. Here the audit throws this error, so no verb runs. */
      const allowed = new Error('allowed');
      const audit = { record: () => Promise.reject(allowed) };
      const options = { client: forgetful, links, taskQueue: 'none', store: { audit } } as unknown as SteerOptions;
      for (const action of actions)
        for (const verb of steeringVerbs) {
          const said = await steerAction(options, 'acme', chain, action, { verb }, { kind: 'admin' }).catch((error) => error);
          const refused = said instanceof Problem ? { slug: said.slug, detail: said.detail } : assert.equal(said, allowed);
          assert.deepEqual(refused, refusalOf(verb, chain, action));
        }
    }),
  );

  it(
    'bulk orders',
    each((chain) => {
      for (const verb of bulkVerbs) {
        const { indexes } = actionsMeant(verb, {}, chain);
        const failed = actionsMeant(verb, { failed: true }, chain).indexes;
        for (const index of [...indexes, ...failed]) assert(verbsFor(chain, actions[index] ?? assert.fail()).includes(verb));
      }
    }),
  );

  it(
    'the page of a hold',
    each((chain) => {
      for (const action of troubled) {
        const offered = String(decisionForm(chain, action)).includes('value="retry"');
        assert.equal(offered, verbsFor(chain, action).includes('retry'));
      }
    }),
  );

  it('the page of a hold offers a retry first only if it can help', () => {
    const one = { index: 0, action: 'ticket_updateUDF', relayId: '7', state: 'needs-attention' } as const;
    const order = (remedy: string) => {
      const error = { type: 'TicketingError', message: 'm', retryable: false, title: 't', remedy };
      const held = { ...one, error };
      const chain = { ...chains[0], status: 'needs-attention', closedAt: undefined, historyFull: undefined, partial: undefined };
      const page = String(decisionForm({ ...chain, actions: [held] } as ChainResource, held));
      return [...page.matchAll(/value="(\w+)"/g)].map(([, verb]) => verb).join();
    };
    assert.equal(order('Change the number, then retry'), 'retry,skip');
    assert.equal(order('Change cfName to another field'), 'skip,retry');
  });

  it(
    'notices',
    each((chain) => {
      const context = { companyName: 'Acme', ruleName: 'r', timeZone: 'UTC', links, namespace: 'default', forOperator: true };
      for (const action of troubled) {
        const { sections } =
          standingWords({ ...chain, companyId: 'acme', relayId: '7', index: action.index }, context) ?? assert.fail();
        const remedy = sections.find(({ title }) => title === 'For operators')?.lines.join('\n') ?? '';
        for (const verb of ['retry', 'skip'] as const)
          assert.equal(
            remedy.includes(`relay ${verb} acme`),
            verbsFor(chain, action).includes(verb),
            `${action.state}: ${remedy}`,
          );
      }
    }),
  );

  it(
    'the command',
    each(async (chain) => {
      shown = chain;
      const { out } = await relay(['chains', 'show', 'acme', 'c1', '--url', api.url], {
        env: { RELAY_ADMIN_TOKEN: 't'.repeat(32) },
      });
      for (const action of troubled)
        for (const [verb, words] of [
          ['retry', 'retry'],
          ['mend', 'chains fields'],
          ['skip', 'skip'],
        ] as const) {
          const offered = new RegExp(`relay ${words} acme c1 ${action.index}\\b`).test(out);
          assert.equal(offered, verbsFor(chain, action).includes(verb), `${words} ${action.state}\n${out}`);
        }
    }),
  );
});
