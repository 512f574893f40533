/** What the parts of the composer share: the draft with its mistakes, and the events and assignments that the pickers offer. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Fields } from '../../chain/fields.js';
import type { Composed, Composer, SystemNames } from '../../contract/dry-run.js';
import type { Subject } from './conditions.js';
import { type Place, placesOf, valuesAt } from './places.js';
import type { Editing } from './use-draft.js';
import type { Way } from './use-rehearsal.js';

/** A mistake, warning or hint at a place of the contents, such as `/actions/1/body`. `add`: an action that solves the problem. */
export type Remark = Composed['hints'][number];

export interface Knowledge extends Pick<Editing, 'draft' | 'change'> {
  relayId: string;
  way: Way;
  /** The last events of the rule, the newest first. */
  events: readonly Fields[];
  /** The assignment of the rehearsal, if it was read. */
  assignment: Fields | undefined;
  composer: Composer;
  /** The groups and fields of the company's systems. */
  names: SystemNames;
  problems: readonly Remark[];
  hints: readonly Remark[];
  /** Whether the hints are from an earlier draft. */
  isOutdated: boolean;
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
