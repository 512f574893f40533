/** What the parts of the composer share: the draft with its mistakes, the events that the pickers offer, and words for places. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Subject } from '../../chain/comparisons.js';
import type { Fields } from '../../chain/fields.js';
import type { Composed, Composer, SystemNames } from '../types.js';
import { labelled } from '../words.js';
import type { Editing } from './use-draft.js';

/** How the sender calls the relay: with its event, or with a list of actions. */
export type Way = 'event' | 'list';

/** A mistake, warning or hint at a place of the contents, such as `/actions/1/body`. `add`: an action that solves the problem. */
export type Remark = Composed['hints'][number];

interface Knowledge extends Pick<Editing, 'draft' | 'change'> {
  relayId: string;
  way: Way;
  /** Examples of what conditions and references are about: events and assignments, the newest first. */
  seen: Record<Subject, readonly Fields[]>;
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
  if (!known) throw new Error('useKnowledge works only inside the composer');
  return known;
}

/** Assignments with the usual statuses. The composer offers them before it has read an assignment. */
export const usualAssignments: readonly Fields[] = ['draft', 'sent', 'accepted'].map((status) => ({ status }));

/** The remarks at these places and below them, as one text. */
export function saidAt(remarks: readonly Remark[], ...places: string[]): string {
  const said = remarks.filter(({ pointer }) => places.some((place) => pointer === place || pointer.startsWith(`${place}/`)));
  return [...new Set(said.map(({ detail }) => labelled(detail)))].join('; ');
}
