/** Rehearses the draft on the server half a second after each change. Nothing is sent. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { z } from 'zod';
import type { Scenario } from '../../chain/scenario.js';
import type { Composed, composeRequest } from '../../contract/dry-run.js';
import { path } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { useCompany } from '../session.js';
import { actionsOf, contentsOf, type Draft, type Fields } from './draft.js';
import { inventedEvent } from './places.js';

type ComposeRequest = z.input<typeof composeRequest>;
export type Way = 'event' | 'list';
export type Play = 'now' | Scenario;
type Rehearsed = NonNullable<Composed['rehearsals']>[number];

export interface Rehearsal {
  composed: Composed | undefined;
  played: Rehearsed | undefined;
  isOutdated: boolean;
  refused: Refused | undefined;
}

/** What a person chooses for the rehearsal. */
export function useChoices() {
  return {
    play: useSignal<Play>('nobody-found'),
    assignmentId: useSignal(''), // '' for an invented assignment
    eventId: useSignal(''), // '' for the last event
  };
}
export type Choices = ReturnType<typeof useChoices>;

interface RehearsalOf {
  relayId: string;
  draft: Draft;
  /** How the sender calls the relay: with its event, or with a list of actions. */
  way: Way;
  choices: Choices;
  /** The event to use. Without one, the page invents an event. */
  event: { eventId: string } | { event: Fields } | undefined;
}

const pauseMs = 500;

export function useRehearsal({ relayId, draft, way, choices, event }: RehearsalOf): Rehearsal {
  const { companyId } = useCompany();
  const [composed, refused] = [useSignal<Composed | undefined>(undefined), useSignal<Refused | undefined>(undefined)];
  const composedText = useSignal('');
  const [play, id] = [choices.play.value, choices.assignmentId.value];
  const shared = { scenarios: [play], assignment: id ? { id } : { facts: { status: 'draft' } } };
  const request: ComposeRequest =
    way === 'list'
      ? { elements: actionsOf(draft.cards).map((element) => ({ ...element, relayId })), ...shared }
      : { contents: contentsOf(draft), relayId, ...(event ?? { event: inventedEvent(draft) }), ...shared };
  const text = JSON.stringify(request);
  useEffect(() => {
    let isOld = false;
    const rehearse = async () => {
      try {
        const heard = await ask<Composed>('POST', path`/co/${companyId}/chains/compose`, request);
        if (!isOld) [composed.value, composedText.value, refused.value] = [heard, text, undefined];
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (isOld) return;
        refused.value = error;
        if ([400, 413].includes(error.problem.status)) composed.value = undefined;
      }
    };
    if (draft.cards.length === 0) return;
    const timer = setTimeout(() => void rehearse(), pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  const isOutdated = composedText.value !== text;
  const played = composed.value?.rehearsals?.find(({ scenario }) => scenario === play);
  return { composed: composed.value, played, isOutdated, refused: refused.value };
}
