/** `POST …/rules/{relayId}/draft/from-lists`: makes contents from chains that came as lists of actions. Stores nothing. */

import { chainWorkflowId } from '../chain/chain.js';
import { fieldsOf } from '../chain/sent.js';
import { fromListsRequest, fromListsResponse } from '../contract/rule-contents.js';
import { contentsFromLists } from '../rules/from-lists.js';
import { readAccepted } from '../temporal/mend.js';
import { foundRule, notFound } from './problems.js';
import { type ApiOptions, ofRule, type Route, route } from './route.js';

const mostChains = 20; // if the request has no chain ids, the relay compares this many chains

export function fromListsRoute({ store, client }: ApiOptions): Route {
  return route.author(`POST ${ofRule}/draft/from-lists`, 'makeContents', 'Make the contents of a rule from lists of actions', {
    description:
      'Compares past chains of the rule that came as lists. Values that differ between these chains become variables. To keep ' +
      'the contents, save them as the draft.',
    use: 'lists',
    body: fromListsRequest,
    answers: { 200: ['The contents, and the values of each variable.', fromListsResponse] },
    problems: ['temporal-unavailable'],
    async handle(c, { companyId, relayId, body: { chainIds } }) {
      foundRule(await store.rules.get(companyId, relayId), companyId, relayId);
      const last = async () => (await store.chains.list(companyId, { relayId }, { limit: mostChains })).items;
      const ids = chainIds.length > 0 ? chainIds : (await last()).map(({ chainId }) => chainId);
      const requests = await Promise.all(
        ids.map(async (chainId) => {
          const actions = await readAccepted(client, { workflowId: chainWorkflowId({ companyId, chainId }) });
          // Actions with `unfilled` did not come in a list. The relay made them from an event.
          const own = actions.filter((action) => action.relayId === relayId && action.unfilled === undefined);
          if (own.length === 0 && chainIds.length > 0) throw notFound(`chain ${chainId} that came to rule ${relayId} as a list`);
          return own.map(fieldsOf);
        }),
      );
      const lists = requests.filter(({ length }) => length > 0);
      if (lists.length === 0) throw notFound(`chain of rule ${relayId} that came as a list`);
      return c.json(contentsFromLists(lists));
    },
  });
}
