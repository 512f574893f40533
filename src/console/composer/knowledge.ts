/** What the parts of the composer share: the draft with its mistakes, the events that the pickers offer, and words for places. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Subject } from '../../chain/comparisons.js';
import type { Fields } from '../../chain/fields.js';
import type { Composed, Composer, SystemNames } from '../types.js';
import { fieldWords } from '../words.js';
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

/** The remarks at a place and below it, as one text. */
export function saidAt(remarks: readonly Remark[], place: string): string {
  const said = remarks.filter(({ pointer }) => pointer === place || pointer.startsWith(`${place}/`));
  return [...new Set(said.map(({ detail }) => inSteps(detail)))].join('; ');
}

export const fieldName = (field: string) => fieldWords[field] ?? (field === 'if' ? 'Only if' : field);

/** For example `manager email` for the variable `manager_email`. */
export const variableWords = (name: string) => name.replaceAll('_', ' ');

/** Says where a mistake is: `Step 2, Wait`. @param pointer - into the contents. */
export function placeText(pointer: string): string {
  const [, part, name = '', field = ''] = pointer.split('/');
  if (part === 'actions' && name !== '')
    return [`Step ${Number(name) + 1}`, field && `“${fieldName(field)}”`].filter(Boolean).join(', ');
  if (part === 'variables') return `The value ${variableWords(name)}`;
  return part === 'when' ? 'The condition of the rule' : 'The rule';
}

export const mistakeText = ({ pointer, detail }: Pick<Remark, 'pointer' | 'detail'>) =>
  `${placeText(pointer)} ${inSteps(detail)}.`;

/** A mistake in a list of steps. A list has the pointer `/0/body`, contents have `/actions/0/body`. */
export const listMistake = (one: Pick<Remark, 'pointer' | 'detail'>) =>
  mistakeText({ ...one, pointer: `/actions${one.pointer}` });

/** Puts a text of the API into the words of the cards. The API counts actions from 0, and the cards count steps from 1. */
export function inSteps(text: string): string {
  return text
    .replaceAll(/(?<![\w/])\/(?:actions|variables|when)\b[\w/-]*/g, placeText)
    .replaceAll(/\bactions? (\d+)\b/g, (_, index) => `step ${Number(index) + 1}`)
    .replaceAll(/with actionCondition status==(\w+)/g, 'that is sent only if the assignment still has the status “$1”');
}
