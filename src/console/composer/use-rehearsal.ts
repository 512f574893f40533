/** Rehearses the draft on the server half a second after each change. Nothing is sent. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Fields } from '../../chain/fields.js';
import type { Scenario } from '../../chain/scenario.js';
import { admin, ask, co, path, seldom, useAnswer, useResource } from '../base.js';
import { readObject } from '../fields.js';
import type { Composed, composeRequest, eventsResponse, wholeEventSchema, z } from '../types.js';
import { actionsOf, contentsOf, type Draft } from './draft.js';
import type { Way } from './knowledge.js';
import { inventedEvent } from './places.js';

export type Play = 'now' | Scenario;
export type Rehearsal = ReturnType<typeof useRehearsal>;

const pauseMs = 500;

/** Uses the chosen event, or else the last event. If there is no event, the page invents an event. */
export function useRehearsal(relayId: string, draft: Draft, way: Way) {
  const play = useSignal<Play>('nobody-found');
  const assignmentId = useSignal(''); // '' for an invented assignment
  const eventId = useSignal(''); // '' for the last event
  const known = useLastEvents(relayId, eventId.value);
  const { chosen, events } = known;
  const event = chosen ? { eventId: chosen.eventId } : { event: events[0] ?? inventedEvent(draft) };
  const list = { elements: actionsOf(draft.cards).map((element) => ({ ...element, relayId })) };
  const asked = way === 'list' ? list : { contents: contentsOf(draft), relayId, ...event };
  const assignment = assignmentId.value ? { id: assignmentId.value } : { facts: { status: 'draft' } };
  const request: z.input<typeof composeRequest> = { ...asked, scenarios: [play.value], assignment };
  const at = draft.cards.length > 0 ? co`/chains/compose` : undefined;
  const { body: composed, ...answer } = useAnswer<Composed>('POST', at, request, pauseMs);
  const played = composed?.rehearsals?.find(({ scenario }) => scenario === play.value);
  return { ...{ play, assignmentId, eventId, composed, played }, ...known, ...answer };
}

type WholeEvent = z.infer<typeof wholeEventSchema>;

const mostRead = 5; // the composer reads the bodies of this many events, to offer their values

/** @param eventId - the event that a person has chosen. '' for the last event. */
function useLastEvents(relayId: string, eventId: string) {
  const at = admin`/rules/${relayId}/events`;
  const listed = useResource<z.infer<typeof eventsResponse>>(`${at}?limit=20`, seldom).data.value?.events ?? [];
  const read = useSignal<readonly WholeEvent[]>([]);
  const wanted = [...new Set([eventId, ...listed.slice(0, mostRead).map((event) => event.eventId)])].filter(Boolean);
  useEffect(() => {
    const known = (id: string) => read.value.find((event) => event.eventId === id);
    const reading = wanted.map((id) => known(id) ?? ask<WholeEvent>('GET', at + path`/${id}`));
    // The event may have been deleted meanwhile.
    void Promise.allSettled(reading).then((all) => {
      read.value = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    });
  }, [wanted.join()]);
  /** An event that a person has pasted, for the time before the first event. Only this tab of the browser keeps it. */
  const example = useSignal(readObject(sessionStorage.getItem(at) ?? ''));
  useEffect(() => sessionStorage.setItem(at, JSON.stringify(example.value ?? null)), [example.value]);
  const kept: Fields[] = read.value.map(({ event }) => event);
  return { listed, events: kept.length > 0 || !example.value ? kept : [example.value], chosen: read.value[0], example };
}
