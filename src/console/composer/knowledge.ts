/** What the composer knows about the rule's events and the platform. The pickers offer these places and values. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Fields } from '../../chain/fields.js';
import type { Composer } from '../../contract/dry-run.js';
import type { Subject } from './conditions.js';
import type { Draft } from './draft.js';
import { type Place, placesOf, valuesAt } from './places.js';
import type { Way } from './use-rehearsal.js';

export interface Knowledge {
  way: Way;
  /** The last events of the rule, the newest first. */
  events: readonly Fields[];
  /** The assignment of the rehearsal, if it was read. */
  assignment: Fields | undefined;
  composer: Composer;
  draft: Draft;
  onChange(draft: Draft, about?: string): void;
}

export const KnowledgeContext = createContext<Knowledge | undefined>(undefined);

export function useKnowledge(): Knowledge {
  const known = useContext(KnowledgeContext);
  if (!known) throw new Error('there is no composer here');
  return known;
}

/** The usual states of an assignment, for the time before one was read. */
const usualStates = ['draft', 'sent', 'accepted'];

export function placesOfSubject({ events, assignment }: Pick<Knowledge, 'events' | 'assignment'>, of: Subject): Place[] {
  const [event] = events;
  if (of === 'event') return event ? placesOf(event) : [];
  if (of === 'incomingValue') return [];
  return assignment ? placesOf(assignment) : [{ path: 'status', value: 'draft' }];
}

/** The values that the property has had. */
export function valuesOfSubject({ events, assignment }: Pick<Knowledge, 'events' | 'assignment'>, of: Subject, path: string) {
  if (of === 'event') return valuesAt(events, path);
  const seen = assignment && of === 'assignment' ? valuesAt([assignment], path) : [];
  return of === 'assignment' && path === 'status' ? [...new Set([...seen, ...usualStates])] : seen;
}
