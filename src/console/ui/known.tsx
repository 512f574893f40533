/** Shows answers of the API, `Loading…` before an answer, and refusals. Also has sections that the user unfolds. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Refused, type Resource, seldom, sessionIsOver, useResource } from '../base.js';
import { durationText, labelled, refusalWords, sentence } from '../words.js';
import { Said } from './text.js';

export function SessionIsOver() {
  if (!sessionIsOver.value) return null;
  const to = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  return (
    <div class="note wait" role="alert">
      Your session has ended. <a {...{ href: to, target: '_blank', rel: 'noopener' }}>Sign in again</a> in a new tab, then
      continue here. This page keeps your input.
    </div>
  );
}

type Mistake = { pointer: string; detail: string };

/** A list of mistakes. @param words - the words of one mistake. By default, its pointer and its detail. */
export function Mistakes({ of, look, words }: { of: readonly Mistake[]; look?: string; words?: (mistake: Mistake) => string }) {
  const whole = ({ pointer, detail }: Mistake) => [
    <strong>{labelled(pointer || '/')}</strong>,
    ' ',
    <Said text={labelled(detail)} />,
  ];
  if (of.length === 0) return null;
  return (
    <ul class={look}>
      {of.map((mistake) => (
        <li key={mistake.pointer + mistake.detail}>{words ? words(mistake) : whole(mistake)}</li>
      ))}
    </ul>
  );
}

export function ProblemNote({ refused }: { refused: Refused | undefined }) {
  if (!refused) return null;
  if (refused.problem.status === 401) return <SessionIsOver />;
  const { title, detail, errors = [], type } = refused.problem;
  return (
    <div class="note bad" role="alert">
      <strong>{type.endsWith('/invalid-chain') ? refusalWords['invalid-chain'] : title}.</strong>{' '}
      <Said text={sentence(labelled(detail))} />
      {refused.retryAfterSeconds !== undefined && ` Try again in ${durationText(refused.retryAfterSeconds)}.`}
      {errors.some((mistake) => !detail.includes(mistake.detail)) && <Mistakes of={errors} />}{' '}
      {type.startsWith('/problems/') && <a href={type}>Help for developers</a>}
    </div>
  );
}

/** Shows the last answer, even if later requests fail or the object is gone. `Page` reports an expired session. */
export function Known<Body>({ of, children }: { of: Resource<Body>; children: (body: Body) => ComponentChildren }) {
  const [body, refused] = [of.data.value, of.refused.value];
  return (
    <>
      {![401, body === undefined ? 401 : 404].includes(refused?.problem.status ?? 401) && <ProblemNote refused={refused} />}
      {body !== undefined ? children(body) : !refused && <p class="soft loading">Loading…</p>}
    </>
  );
}

type FoldProps = { summary: ComponentChildren; look?: string; isNeeded: boolean; children: ComponentChildren };

/** @param isNeeded - opens the section, for example because it has a mistake. The section stays open after that. */
export function Fold({ summary, look, isNeeded, children }: FoldProps) {
  const isOpen = useSignal(isNeeded);
  useEffect(() => {
    if (isNeeded) isOpen.value = true;
  }, [isNeeded]);
  return (
    <details class={look} open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}

type AskedProps<Body> = { summary: string; path: string; above?: ComponentChildren; children(body: Body): ComponentChildren };

/** A section that loads its content when the user opens the section. @param above - the content above the answer. */
export function Asked<Body>({ summary, path, above, children }: AskedProps<Body>) {
  const isOpen = useSignal(false);
  const known = useResource<Body>(isOpen.value ? path : undefined, seldom);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen.value && above}
      {isOpen.value && <Known of={known}>{children}</Known>}
    </details>
  );
}
