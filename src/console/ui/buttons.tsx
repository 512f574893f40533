/** Buttons, and the changes that they make. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { announce, Refused } from '../base.js';
import { ProblemNote } from './known.js';

/** Runs changes through the API. Tells whether a change is running, and why the API refused the last change. */
export function useDeed() {
  const [busy, refused] = [useSignal(false), useSignal<Refused | undefined>(undefined)];
  /** @param words - announced if the change succeeds. @returns whether the change succeeded. */
  const run = async (deed: () => Promise<unknown>, words?: string): Promise<boolean> => {
    if (busy.value) return false;
    [busy.value, refused.value] = [true, undefined];
    try {
      await deed();
      if (words) announce(words);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused.value = error;
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy: busy.value, refused: refused.value, run };
}

/** A button that does not submit its form. */
export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />;
}

interface SubmitProps extends Pick<ReturnType<typeof useDeed>, 'busy' | 'refused'> {
  words: ComponentChildren;
  danger?: boolean | undefined;
  /** The content after the button. */
  children?: ComponentChildren;
}

/** The end of a form: why the API refused the last change, and the button. */
export function Submit({ busy, refused, words, danger, children }: SubmitProps) {
  return (
    <>
      <ProblemNote refused={refused} />
      <p class="row">
        <button type="submit" class={danger ? 'danger' : 'main'} aria-disabled={busy}>
          {words}
        </button>
        {children}
      </p>
    </>
  );
}
