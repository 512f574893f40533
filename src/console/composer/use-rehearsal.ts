/** Rehearses the draft on the server half a second after each change. Nothing is sent. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { Scenario } from '../../chain/scenario.js';
import type { Composed, composeRequest } from '../../contract/dry-run.js';
import { path } from '../addresses.js';
import { useCompany } from '../session.js';
import { actionsOf, contentsOf, type Draft, type Fields } from './draft.js';
import type { Way } from './knowledge.js';
import { inventedEvent } from './places.js';
import { useAnswer } from './use-answer.js';

export type Play = 'now' | Scenario;

/** What a person chooses for the rehearsal. */
export function useChoices() {
  return {
    play: useSignal<Play>('nobody-found'),
    assignmentId: useSignal(''), // '' for an invented assignment
    eventId: useSignal(''), // '' for the last event
  };
}
export type Choices = ReturnType<typeof useChoices>;
export type Rehearsal = ReturnType<typeof useRehearsal>;

interface RehearsalOf {
  relayId: string;
  draft: Draft;
  way: Way;
  choices: Choices;
  /** The event to use. Without one, the page invents an event. */
  event: { eventId: string } | { event: Fields } | undefined;
}

const pauseMs = 500;

export function useRehearsal({ relayId, draft, way, choices, event }: RehearsalOf) {
  const { companyId } = useCompany();
  const [play, id] = [choices.play.value, choices.assignmentId.value];
  const asked =
    way === 'list'
      ? { elements: actionsOf(draft.cards).map((element) => ({ ...element, relayId })) }
      : { contents: contentsOf(draft), relayId, ...(event ?? { event: inventedEvent(draft) }) };
  const assignment = id ? { id } : { facts: { status: 'draft' } };
  const request: z.input<typeof composeRequest> = { ...asked, scenarios: [play], assignment };
  const at = path`/co/${companyId}/chains/compose`;
  const { body: composed, ...answer } = useAnswer<Composed>(at, draft.cards.length > 0 ? request : undefined, pauseMs);
  return { composed, played: composed?.rehearsals?.find(({ scenario }) => scenario === play), ...answer };
}
