/** Finds assignments, tickets, chains and rules by the beginning of an id. */

import { z } from 'zod';
import { searchKinds, searchResponse } from '../contract/search.js';
import { type ApiOptions, type Route, route } from './route.js';

const most = 20;

export function searchRoute({ store }: ApiOptions): Route {
  return route.company('GET /co/:companyId/search', 'search', 'Find assignments, tickets, chains and rules', {
    use: 'lists',
    description: 'At most 20 results, grouped by kind. A rule is also found by a part of its name.',
    query: z.object({ q: z.string().trim().min(1).max(200).describe('The beginning of an id.') }),
    answers: { 200: ['The ids that begin with `q`, and the rules with `q` in their name.', searchResponse] },
    async handle(c, { companyId, query: { q } }) {
      const [found, settings] = await Promise.all([store.chains.search(companyId, q), store.settings.of(companyId)]);
      const isMeant = ({ relayId, name }: { relayId: string; name: string }) =>
        relayId.startsWith(q) || name.toLowerCase().includes(q.toLowerCase());
      const rules = [...(settings?.rules.values() ?? [])].filter(isMeant).map(({ relayId: id, name }) => ({ id, name }));
      const lastAt = new Map(found.rule.map((rule) => [rule.id, rule.lastAt]));
      const named = rules.map((rule) => ({ ...rule, lastAt: lastAt.get(rule.id) }));
      const deleted = found.rule.filter(({ id }) => !settings?.rules.has(id));
      const lists = { ...found, rule: [...named, ...deleted] };
      // Each kind gets its turn, so that many ids of one kind do not hide the other kinds.
      const turns = searchKinds.flatMap((kind) => lists[kind].map((one, turn) => ({ kind, turn, one })));
      const chosen = turns.sort((a, b) => a.turn - b.turn).slice(0, most);
      const items = searchKinds.flatMap((kind) => chosen.flatMap((each) => (each.kind === kind ? [{ kind, ...each.one }] : [])));
      return c.json({ items });
    },
  });
}
