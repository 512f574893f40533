/** The last events of a rule, with their bodies: the pickers offer their places, and the rehearsal can use one of them. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { z } from 'zod';
import type { eventsResponse, wholeEventSchema } from '../../contract/rule-event.js';
import { path } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { readObject } from '../fields.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import type { Fields } from './draft.js';

type WholeEvent = z.infer<typeof wholeEventSchema>;

/** Enough to see which values a place has had. */
const mostRead = 5;

/** @param eventId - the event that a person has chosen. '' for the last event. */
export function useLastEvents(relayId: string, eventId: string) {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/events`;
  const listed = useResource<z.infer<typeof eventsResponse>>(`${at}?limit=20`, seldom).data.value?.events ?? [];
  const read = useSignal<readonly WholeEvent[]>([]);
  const wanted = [...new Set([...(eventId ? [eventId] : []), ...listed.slice(0, mostRead).map((event) => event.eventId)])];
  useEffect(() => {
    for (const id of wanted.filter((id) => !read.value.some((event) => event.eventId === id)))
      void ask<WholeEvent>('GET', at + path`/${id}`)
        .then((event) => (read.value = [...read.value, event]))
        .catch((error: unknown) => {
          if (!(error instanceof Refused)) throw error;
        });
  }, [wanted.join()]);
  const example = useExample(at);
  const known = wanted.flatMap((id) => read.value.find((event) => event.eventId === id) ?? []);
  const kept: Fields[] = known.map(({ event }) => event);
  const events = kept.length > 0 || !example.value ? kept : [example.value];
  return { listed, events, chosen: known[0], example };
}

/** An event that a person has pasted, for the time before the first event. Only this tab of the browser keeps it. */
function useExample(at: string): Signal<Fields | undefined> {
  const example = useSignal(readObject(sessionStorage.getItem(at) ?? ''));
  useEffect(() => sessionStorage.setItem(at, JSON.stringify(example.value ?? null)), [example.value]);
  return example;
}
