/** What pages are made of. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { ActionState, ChainStatus } from '../chain/outcome.js';
import { Refused } from './api.js';
import { editText } from './fields.js';
import { announce, SessionIsOver } from './frame.js';
import type { Resource } from './resource.js';
import { useCompany } from './session.js';
import { fromNow, timeText, wholeTimeText } from './when.js';
import { stateWords, toneOf } from './words.js';

export function State({ of }: { of: ActionState | ChainStatus }) {
  return <span class={`badge ${toneOf(of)}`}>{stateWords(of)}</span>;
}

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

/** In the company's zone. @param distance - also says how far from now. */
export function Time({ at, distance }: { at: string; distance?: boolean }) {
  const { timeZone } = useCompany();
  return (
    <time dateTime={at} title={wholeTimeText(at, timeZone)}>
      {timeText(at, timeZone, now.value)}
      {distance && <span class="soft"> ({fromNow(at, now.value)})</span>}
    </time>
  );
}

export function ProblemNote({ refused }: { refused: Refused | undefined }) {
  if (!refused) return null;
  if (refused.problem.status === 401) return <SessionIsOver />;
  const { title, detail, errors = [], type } = refused.problem;
  const { retryAfterSeconds } = refused;
  const isSaid = (mistake: string) => detail.includes(mistake);
  return (
    <div class="note bad" role="alert">
      <strong>{title}.</strong> {detail}
      {retryAfterSeconds !== undefined && ` Try again in ${retryAfterSeconds} seconds.`}
      {errors.some((mistake) => !isSaid(mistake.detail)) && (
        <ul>
          {errors.map((mistake) => (
            <li key={mistake.pointer}>
              <code>{mistake.pointer || '/'}</code> {mistake.detail}
            </li>
          ))}
        </ul>
      )}
      {type.startsWith('/problems/') && (
        <>
          {' '}
          <a href={type}>What to do</a>
        </>
      )}
    </div>
  );
}

/** Shows what the API knows, once it has said it; what it has said stays while it is in trouble. That the session is over the page says. */
export function Known<Body>({ of, children }: { of: Resource<Body>; children: (body: Body) => ComponentChildren }) {
  const body = of.data.value;
  const refused = of.refused.value;
  return (
    <>
      {refused?.problem.status !== 401 && <ProblemNote refused={refused} />}
      {body !== undefined ? children(body) : !refused && <p class="soft">Loading…</p>}
    </>
  );
}

export function UnknownNote() {
  return <p class="note wait">Nobody can say whether it took place: look at the other side before you retry.</p>;
}

/** When a page was last brought up to date. */
export function UpToDate({ of }: { of: Resource<unknown> }) {
  const { timeZone } = useCompany();
  const at = of.at.value;
  if (at === undefined) return null;
  return (
    <p class="soft small">
      Up to date at {timeText(new Date(at).toISOString(), timeZone, at)} ({timeZone}).
    </p>
  );
}

/** Something that is done at the API: whether it is being done, and why it was refused. */
export function useDeed() {
  const [busy, refused] = [useSignal(false), useSignal<Refused | undefined>(undefined)];
  /** @param words - what is said aloud once it is done. @returns whether it was. */
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

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** Where the focus was before a dialog; one dialog may follow another. */
let opener: HTMLElement | undefined;

/** Open for as long as it is there; Escape closes it, and the focus goes back to where it came from. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    if (before instanceof HTMLElement && before !== document.body && !before.closest('dialog')) opener = before;
    element.current?.showModal();
    return () => {
      if (!document.querySelector('dialog[open]') && opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps extends Omit<DialogProps, 'children'> {
  /** What is about to be done. */
  children: ComponentChildren;
  verb: string;
  danger?: boolean;
  busy: boolean;
  refused: Refused | undefined;
  onConfirm(): void;
}

export function Confirm({ title, onClose, children, verb, danger, busy, refused, onConfirm }: ConfirmProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        <ProblemNote refused={refused} />
        <p class="row">
          <button type="submit" class={danger ? 'danger' : 'main'} aria-disabled={busy}>
            {busy ? 'One moment…' : verb}
          </button>
          <button type="button" onClick={onClose}>
            Back
          </button>
        </p>
      </form>
    </Dialog>
  );
}

interface NotReadyProps extends Omit<DialogProps, 'children'> {
  busy: boolean;
  refused: Refused | undefined;
  /** What it does meanwhile, or why there is nothing to confirm. */
  children: ComponentChildren;
}

/** Stands in the place of a `Confirm` until what is to be confirmed is known, and for good where there is nothing. */
export function NotReady({ refused, children, ...dialog }: NotReadyProps) {
  return (
    <Dialog {...dialog}>
      {!refused && <p>{children}</p>}
      <ProblemNote refused={refused} />
      <p class="row">
        <button type="button" onClick={dialog.onClose}>
          Back
        </button>
      </p>
    </Dialog>
  );
}

/** A secret that is shown this once. */
export function ShownOnce({ title, secret, onClose, children }: DialogProps & { secret: string }) {
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    copied.value = true;
    announce('Copied');
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <p>
        <code class="secret">{secret}</code>
      </p>
      <p class="note wait">This is the only time that it is shown.</p>
      <p class="row">
        {'clipboard' in navigator && (
          <button type="button" class="main" onClick={() => void copy()}>
            {copied.value ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" onClick={onClose}>
          Done
        </button>
      </p>
    </Dialog>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  /** What is wrong with it. */
  problem?: string;
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ComponentChildren;
}

export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const about = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(about && { 'aria-describedby': about }), ...(problem && { 'aria-invalid': true }) })}
      {problem && (
        <span id={`${id}-problem`} class="error small">
          {problem}.{' '}
        </span>
      )}
      {hint && (
        <span id={`${id}-hint`} class="soft small">
          {hint}
        </span>
      )}
    </p>
  );
}

interface JsonFieldProps extends Omit<FieldProps, 'children'> {
  rows: number;
  text: string;
  onText(written: string): void;
}

export function JsonField({ rows, text, onText, ...field }: JsonFieldProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <textarea
          {...ids}
          class="json"
          rows={rows}
          spellcheck={false}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type EntryProps = Pick<FieldProps, 'label' | 'hint'> & { of: Signal<string> };

interface EntryLimits {
  required?: boolean;
  maxLength: number;
}

export function Entry({ label, hint, of, ...limits }: EntryProps & EntryLimits) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => <input {...ids} {...limits} value={of.value} onInput={(event) => (of.value = event.currentTarget.value)} />}
    </Field>
  );
}

/** @param options - each value, and its words. */
export function Choice({ label, hint, of, options }: EntryProps & { options: readonly (readonly [string, string])[] }) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={of.value} onChange={(event) => (of.value = event.currentTarget.value)}>
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** @param cursors - of the parts of a list up to the one that is shown; the first has none. */
export function Pager({ cursors, next }: { cursors: Signal<string[]>; next: string | undefined }) {
  const earlier = cursors.value.length > 0;
  if (!earlier && !next) return null;
  return (
    <nav aria-label="Parts of the list" class="row">
      {earlier && (
        <button type="button" onClick={() => (cursors.value = cursors.value.slice(0, -1))}>
          Back
        </button>
      )}
      {next && (
        <button type="button" onClick={() => (cursors.value = [...cursors.value, next])}>
          More
        </button>
      )}
    </nav>
  );
}

/** The fields of a form by their names; a blank one is ''. */
export function fieldsOf(event: Event): Record<string, string> {
  event.preventDefault();
  const form = event.currentTarget;
  if (!(form instanceof HTMLFormElement)) return {};
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}

/** What an action says, as text. */
export function FieldList({ fields }: { fields: readonly [name: string, value: unknown][] }) {
  if (fields.length === 0) return null;
  return (
    <dl class="facts small">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{Array.isArray(value) ? value.join(', ') : editText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
