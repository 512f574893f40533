/** The draft of a rule while a person edits it: undo, redo, and saving as the person types. Other tabs may save it, too. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { DraftConflict, DraftResponse } from '../../contract/rule-contents.js';
import { path } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { announce } from '../frame.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { contentsOf, type Draft, draftOf } from './draft.js';
import { begun, changed, type History, redone, undone } from './history.js';

/** The draft is saved this long after the last change. */
const pauseMs = 600;
/** After a failed save, the page tries again. */
const againMs = 5_000;

export interface Editing {
  draft: Draft;
  canUndo: boolean;
  canRedo: boolean;
  isSaved: boolean;
  issues: Pick<DraftResponse, 'problems' | 'warnings'>;
  revision: number;
  refused: Refused | undefined;
  conflict: DraftConflict | undefined;
  /** @param about - see `changed` in history.ts. */
  change(draft: Draft, about?: string): void;
  undo(): void;
  redo(): void;
  /** Saves now. @returns whether the stored draft is the draft on the page. */
  save(): Promise<boolean>;
  /** Ends a conflict. */
  choose(which: 'mine' | 'theirs'): void;
}

const textOf = (draft: Draft) => JSON.stringify(contentsOf(draft));

/** @returns `editing` is undefined until the draft is loaded. */
export function useDraft(relayId: string) {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/draft`;
  const stored = useResource<DraftResponse>(at, seldom);
  const history = useSignal<History<Draft> | undefined>(undefined);
  const saved = useSignal<DraftResponse & { text: string }>({ revision: 0, problems: [], warnings: [], text: '' });
  const [refused, conflict] = [useSignal<Refused | undefined>(undefined), useSignal<DraftConflict | undefined>(undefined)];
  const running = useRef<Promise<boolean> | undefined>(undefined);
  const draft = history.value?.present;
  const text = draft ? textOf(draft) : '';

  const adopt = (response: DraftResponse) => {
    const next = draftOf(response.contents);
    history.value = history.value ? changed(history.value, next, '', Date.now()) : begun(next);
    saved.value = { ...response, text: textOf(next) };
  };
  /** For functions that run later, when the draft is another one. */
  const isUnsaved = () => {
    const now = history.peek()?.present;
    return now !== undefined && textOf(now) !== saved.peek().text;
  };
  const heard = stored.data.value;
  useEffect(() => {
    const isNewer = heard && (!history.peek() || heard.revision > saved.peek().revision);
    if (isNewer && !isUnsaved() && !running.current) adopt(heard);
  }, [heard]);

  const put = async (): Promise<boolean> => {
    const sent = history.peek()?.present;
    if (!sent || conflict.peek()) return false;
    const sentText = textOf(sent);
    if (sentText === saved.peek().text) return true;
    try {
      const contents = contentsOf(sent);
      saved.value = { ...(await ask<DraftResponse>('PUT', at, { revision: saved.peek().revision, contents })), text: sentText };
      refused.value = undefined;
      return textOf(history.peek()?.present ?? sent) === sentText;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { conflict: other } = error.problem;
      // The answer to an earlier save was lost.
      if (other?.diff?.same) saved.value = { ...saved.value, revision: other.stored.revision, text: sentText };
      else if (other) conflict.value = other;
      else refused.value = error;
      return other?.diff?.same === true;
    }
  };
  /** One save at a time, because each save needs the revision of the save before. */
  const save = async (): Promise<boolean> => {
    while (running.current) await running.current;
    running.current = put();
    const isSaved = await running.current;
    running.current = undefined;
    return isSaved;
  };
  useEffect(() => {
    if (!draft || text === saved.value.text || conflict.value) return;
    const timer = setTimeout(() => void save(), refused.value ? againMs : pauseMs);
    return () => clearTimeout(timer);
  }, [text, saved.value.text, conflict.value, refused.value]);
  useEffect(() => {
    const stay = (event: Event) => isUnsaved() && event.preventDefault();
    addEventListener('beforeunload', stay);
    return () => {
      removeEventListener('beforeunload', stay);
      void save();
    };
  }, []);

  const editing: Editing | undefined = draft && {
    draft,
    canUndo: (history.value?.past.length ?? 0) > 0,
    canRedo: (history.value?.future.length ?? 0) > 0,
    isSaved: text === saved.value.text,
    issues: saved.value,
    revision: saved.value.revision,
    refused: refused.value,
    conflict: conflict.value,
    change(next, about = '') {
      if (history.value) history.value = changed(history.value, next, about, Date.now());
    },
    undo() {
      if (history.value) history.value = undone(history.value);
      announce('Undone');
    },
    redo() {
      if (history.value) history.value = redone(history.value);
      announce('Redone');
    },
    save,
    choose(which) {
      const other = conflict.value?.stored;
      conflict.value = undefined;
      if (!other) return;
      const { value: kept } = history;
      if (which === 'theirs' || !kept) return adopt({ ...other, problems: [], warnings: [] });
      history.value = { ...kept, past: [...kept.past, draftOf(other.contents)] };
      saved.value = { ...saved.value, revision: other.revision, text: '' };
    },
  };
  return { stored, editing };
}
