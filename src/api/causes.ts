/** `/co/{companyId}/causes`: the reasons why chains need attention. A person can take, release or silence a cause. */

import { type CauseResource, causeSchema, causesResponse, silenceRequest, wholeCauseResponse } from '../contract/causes.js';
import { Problem } from '../contract/problem.js';
import type { HeldActions } from '../temporal/causes.js';
import { numberCursor, pageQuery } from './input.js';
import { found } from './problems.js';
import type { Rejections } from './rejections.js';
import { type ApiOptions, type Route, route } from './route.js';

export function causeRoutes(options: ApiOptions, rejections: Rejections, heldActions: HeldActions): Route[] {
  const { store } = options;
  const find = async (companyId: string, causeId: string): Promise<CauseResource> =>
    found(await store.causes.get(companyId, causeId), `cause ${causeId} of company ${companyId}`);
  const query = pageQuery(numberCursor);
  const decision = { use: 'steering', answers: { 200: ['The cause.', causeSchema] } } as const;
  return [
    route.company('GET /co/:companyId/causes', 'listCauses', 'List the reasons why chains need attention', {
      use: 'lists',
      description:
        'Actions that need attention for the same reason share one cause. Current causes come first, then causes that ended in the ' +
        'last days, the newest first. On the first page, `refused` lists the refused requests that nobody has sent again or dropped.',
      query,
      answers: { 200: ['The causes.', causesResponse] },
      async handle(c, { companyId, query }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        await Promise.all([heldActions.refresh(companyId), rejections.settled(companyId)]);
        const [list, refused] = await Promise.all([
          store.causes.list(companyId, query),
          query.cursor === undefined ? store.rejected.waiting(companyId) : [],
        ]);
        return c.json(causesResponse.parse({ ...list, refused }));
      },
    }),
    route.company('GET /co/:companyId/causes/:causeId', 'getCause', 'Read a cause with its actions', {
      use: 'lists',
      query,
      answers: { 200: ['The cause and its actions.', wholeCauseResponse] },
      async handle(c, { companyId, causeId, query }) {
        await find(companyId, causeId);
        await heldActions.refresh(companyId);
        const actions = await store.causes.actions(companyId, causeId, query);
        return c.json(wholeCauseResponse.parse({ ...(await find(companyId, causeId)), ...actions }));
      },
    }),
    route.company('POST /co/:companyId/causes/:causeId/take', 'takeCause', 'Take a cause', {
      ...decision,
      description:
        'Shows that you work on the cause. This ends when somebody releases the cause, or one hour after the end of the cause.',
      problems: ['already-taken'],
      async handle(c, { companyId, causeId, actor }) {
        const taken = await store.causes.take(companyId, causeId, actor);
        const cause = await find(companyId, causeId);
        if (!taken)
          throw new Problem('already-taken', `Somebody else has taken this cause: ${cause.takenBy}. Wait until it is released.`);
        return c.json(cause);
      },
    }),
    route.company('POST /co/:companyId/causes/:causeId/release', 'releaseCause', 'Release a cause', {
      ...decision,
      async handle(c, { companyId, causeId, actor }) {
        await store.causes.release(companyId, causeId, actor);
        return c.json(await find(companyId, causeId));
      },
    }),
    route.company('POST /co/:companyId/causes/:causeId/silence', 'silenceCause', 'Silence a cause for a while', {
      ...decision,
      description:
        'For this time, the relay sends no notice about further actions that need attention for this cause. It still sends a notice ' +
        'when an action fails because nobody decided, and when no action needs attention any more.',
      body: silenceRequest,
      async handle(c, { companyId, causeId, actor, body: { seconds } }) {
        await store.causes.silence(companyId, causeId, seconds, actor);
        return c.json(await find(companyId, causeId));
      },
    }),
  ];
}
