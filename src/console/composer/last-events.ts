/** The last events of a rule, with their bodies: the pickers offer their places, and the rehearsal can use one of them. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Fields } from '../../chain/fields.js';
import { ask, path, seldom, useCompany, useResource } from '../base.js';
import { readObject } from '../fields.js';
import type { eventsResponse, wholeEventSchema, z } from '../types.js';

type WholeEvent = z.infer<typeof wholeEventSchema>;

/** Enough to see which values a place has had. */
const mostRead = 5;

/** @param eventId - the event that a person has chosen. '' for the last event. */
export function useLastEvents(relayId: string, eventId: string) {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/events`;
  const listed = useResource<z.infer<typeof eventsResponse>>(`${at}?limit=20`, seldom).data.value?.events ?? [];
  const read = useSignal<readonly WholeEvent[]>([]);
  const wanted = [...new Set([eventId, ...listed.slice(0, mostRead).map((event) => event.eventId)])].filter(Boolean);
  useEffect(() => {
    const reading = wanted.map(
      (id) => read.value.find((event) => event.eventId === id) ?? ask<WholeEvent>('GET', at + path`/${id}`),
    );
    // An event may have been deleted since.
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
