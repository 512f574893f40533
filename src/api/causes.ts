/** `/co/{companyId}/causes`: for which reasons chains need attention, who sees to them, and being told no more of one for a while. */

import { type CauseResource, causeSchema, causesResponse, silenceRequest, wholeCauseResponse } from '../contract/causes.js';
import { Problem } from '../contract/problem.js';
import { HeldActions } from '../temporal/causes.js';
import { numberCursor, pageQuery } from './input.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

export function causeRoutes(options: ApiOptions): Route[] {
  const { store } = options;
  const heldActions = new HeldActions(options);
  const find = async (companyId: string, causeId: string): Promise<CauseResource> =>
    found(await store.causes.get(companyId, causeId), `cause ${causeId} of company ${companyId}`);
  const query = pageQuery(numberCursor);
  return [
    route('GET /co/:companyId/causes', 'listCauses', 'List the causes for which chains need attention', {
      use: 'lists',
      description:
        'All that is held for the same reason is one cause. Those for which something is held first, then those that are over,' +
        ' for some days; the newest first.',
      query,
      answers: { 200: ['The causes.', causesResponse] },
      async handle(c, { companyId, query }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        await heldActions.refresh(companyId);
        return c.json(causesResponse.parse(await store.causes.list(companyId, query)));
      },
    }),
    route('GET /co/:companyId/causes/:causeId', 'getCause', 'Read a cause with its actions', {
      use: 'lists',
      query,
      answers: { 200: ['The cause, and the actions that are or were held for it.', wholeCauseResponse] },
      async handle(c, { companyId, causeId, query }) {
        await find(companyId, causeId);
        await heldActions.refresh(companyId);
        const actions = await store.causes.actions(companyId, causeId, query);
        return c.json(wholeCauseResponse.parse({ ...(await find(companyId, causeId)), ...actions }));
      },
    }),
    route('POST /co/:companyId/causes/:causeId/take', 'takeCause', 'Say that one sees to a cause', {
      use: 'steering',
      description: 'It stays with whoever has taken it until it is released, or is over for an hour.',
      answers: { 200: ['The cause.', causeSchema] },
      problems: ['already-taken'],
      async handle(c, { companyId, causeId, actor }) {
        const taken = await store.causes.take(companyId, causeId, actor);
        const cause = await find(companyId, causeId);
        if (!taken) throw new Problem('already-taken', `${cause.takenBy} has taken it. It is free once it is released.`);
        return c.json(cause);
      },
    }),
    route('POST /co/:companyId/causes/:causeId/release', 'releaseCause', 'Leave a cause to others', {
      use: 'steering',
      answers: { 200: ['The cause.', causeSchema] },
      async handle(c, { companyId, causeId, actor }) {
        await store.causes.release(companyId, causeId, actor);
        return c.json(await find(companyId, causeId));
      },
    }),
    route('POST /co/:companyId/causes/:causeId/silence', 'silenceCause', 'Tell nobody of a cause for a while', {
      use: 'steering',
      description:
        'Of what is held for it meanwhile nobody is told; it is under the cause all the same. What ends for want of a decision,' +
        ' and that all are through, is told.',
      body: silenceRequest,
      answers: { 200: ['The cause.', causeSchema] },
      async handle(c, { companyId, causeId, actor, body: { seconds } }) {
        await store.causes.silence(companyId, causeId, seconds, actor);
        return c.json(await find(companyId, causeId));
      },
    }),
  ];
}
