/** The draft of a rule while a person edits it: undo, redo, and saving as the person types. Other tabs may save it, too. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { admin, announce, ask, Refused, seldom, useResource } from '../base.js';
import type { DraftConflict, DraftResponse } from '../types.js';
import { contentsOf, contentsText, type Draft, draftOf } from './draft.js';
import { begun, changed, type History, redone, undone } from './history.js';

const pauseMs = 600; // the draft is saved this long after the last change
const againMs = 5_000; // the page repeats a failed save after this time

export type Editing = NonNullable<ReturnType<typeof useDraft>['editing']>;

/** @returns `editing` is undefined until the draft is loaded. */
export function useDraft(relayId: string) {
  const at = admin`/rules/${relayId}/draft`;
  const stored = useResource<DraftResponse>(at, seldom);
  const history = useSignal<History<Draft> | undefined>(undefined);
  const saved = useSignal<DraftResponse & { text: string }>({ revision: 0, problems: [], warnings: [], text: '' });
  const [refused, conflict] = [useSignal<Refused | undefined>(undefined), useSignal<DraftConflict | undefined>(undefined)];
  const running = useRef<Promise<boolean> | undefined>(undefined);

  const change = (next: Draft, about = '') =>
    (history.value = history.value ? changed(history.value, next, about, Date.now()) : begun(next));
  const adopt = (response: DraftResponse) => {
    const next = draftOf(response.contents);
    change(next);
    saved.value = { ...response, text: contentsText(next) };
  };
  /** Reads the newest draft, because the draft may have changed before this function runs. */
  const isUnsaved = () => {
    const now = history.peek()?.present;
    return now !== undefined && contentsText(now) !== saved.peek().text;
  };
  const heard = stored.data.value;
  useEffect(() => {
    const isNewer = heard && (!history.peek() || heard.revision > saved.peek().revision);
    if (isNewer && !isUnsaved() && !running.current) adopt(heard);
  }, [heard]);

  const put = async (): Promise<boolean> => {
    const sent = history.peek()?.present;
    if (!sent || conflict.peek()) return false;
    if (!isUnsaved()) return true;
    const text = contentsText(sent);
    try {
      const request = { revision: saved.peek().revision, contents: contentsOf(sent) };
      saved.value = { ...(await ask<DraftResponse>('PUT', at, request)), text };
      refused.value = undefined;
      return !isUnsaved();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { conflict: other } = error.problem;
      // If the stored draft is the same, an earlier save succeeded, but its answer was lost.
      if (other?.diff?.same) saved.value = { ...saved.value, revision: other.stored.revision, text };
      else if (other) conflict.value = other;
      else refused.value = error;
      return other?.diff?.same === true;
    }
  };
  /** Saves now, one save at a time, because each save needs the revision of the save before. @returns whether all is saved. */
  const save = async (): Promise<boolean> => {
    while (running.current) await running.current;
    running.current = put();
    const isSaved = await running.current;
    running.current = undefined;
    return isSaved;
  };
  const draft = history.value?.present;
  const text = draft ? contentsText(draft) : '';
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

  const step = (move: typeof undone<Draft>, words: string) => () => {
    if (history.value) history.value = move(history.value);
    announce(words);
  };
  const choose = (which: 'mine' | 'theirs') => {
    const other = conflict.value?.stored;
    conflict.value = undefined;
    if (!other || !history.value) return;
    if (which === 'theirs') return adopt({ ...other, problems: [], warnings: [] });
    history.value = { ...history.value, past: [...history.value.past, draftOf(other.contents)] };
    saved.value = { ...saved.value, revision: other.revision, text: '' };
  };
  const editing = history.value && {
    draft: history.value.present,
    ...{ change, save, choose, undo: step(undone, 'Undone'), redo: step(redone, 'Redone') },
    canUndo: history.value.past.length > 0,
    canRedo: history.value.future.length > 0,
    isSaved: text === saved.value.text,
    ...{ stored: saved.value, refused: refused.value, conflict: conflict.value },
  };
  return { stored, editing };
}
