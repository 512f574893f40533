/** Rehearses the draft on the server half a second after each change. Nothing is sent. */

import { useSignal } from '@preact/signals';
import type { Scenario } from '../../chain/scenario.js';
import { path, useCompany } from '../base.js';
import type { Composed, composeRequest, z } from '../types.js';
import { actionsOf, contentsOf, type Draft } from './draft.js';
import type { Way } from './knowledge.js';
import { useLastEvents } from './last-events.js';
import { inventedEvent } from './places.js';
import { useAnswer } from './use-answer.js';

export type Play = 'now' | Scenario;
export type Rehearsal = ReturnType<typeof useRehearsal>;

const pauseMs = 500;

/** Uses the chosen event, or the last one. Without any, the page invents an event. */
export function useRehearsal(relayId: string, draft: Draft, way: Way) {
  const { companyId } = useCompany();
  const play = useSignal<Play>('nobody-found');
  const assignmentId = useSignal(''); // '' for an invented assignment
  const eventId = useSignal(''); // '' for the last event
  const known = useLastEvents(relayId, eventId.value);
  const { chosen, events } = known;
  const event = chosen ? { eventId: chosen.eventId } : { event: events[0] ?? inventedEvent(draft) };
  const asked =
    way === 'list'
      ? { elements: actionsOf(draft.cards).map((element) => ({ ...element, relayId })) }
      : { contents: contentsOf(draft), relayId, ...event };
  const assignment = assignmentId.value ? { id: assignmentId.value } : { facts: { status: 'draft' } };
  const request: z.input<typeof composeRequest> = { ...asked, scenarios: [play.value], assignment };
  const at = path`/co/${companyId}/chains/compose`;
  const { body: composed, ...answer } = useAnswer<Composed>(at, draft.cards.length > 0 ? request : undefined, pauseMs);
  const played = composed?.rehearsals?.find(({ scenario }) => scenario === play.value);
  return { ...{ play, assignmentId, eventId, composed, played }, ...known, ...answer };
}
