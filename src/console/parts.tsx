/** Components that the pages share. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useId, useRef } from 'preact/hooks';
import type { ActionState, ChainStatus } from '../chain/outcome.js';
import type { ActionResource } from '../contract/chain-resource.js';
import type { Token } from '../contract/credential.js';
import { Refused } from './api.js';
import { editText } from './fields.js';
import { announce, SessionIsOver } from './frame.js';
import type { Resource } from './resource.js';
import { CompanyContext, useCompany } from './session.js';
import { fromNow, localTimes, timeText, wholeTimeText } from './when.js';
import { stateWords, toneOf } from './words.js';

export function State({ of, result }: { of: ActionState | ChainStatus; result?: ActionResource['result'] }) {
  return <span class={`badge ${toneOf(of, result)}`}>{stateWords(of, result)}</span>;
}

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

/** Shows `before`, then a time in the company's zone. Shows nothing without a time. @param distance - adds `(5 minutes ago)`. */
export function Time({ at, distance, before }: { at: string | undefined; distance?: boolean; before?: string }) {
  const { timeZone } = useCompany();
  if (!at) return null;
  return (
    <>
      {before}
      <time dateTime={at} title={wholeTimeText(at, timeZone)}>
        {timeText(at, timeZone, now.value)}
        {distance && <span class="soft"> ({fromNow(at, now.value)})</span>}
      </time>
    </>
  );
}

/** Shows a text from the API, with its times in the company's zone. @param look - the CSS class of a paragraph. */
export function Said({ text, look }: { text: string; look?: string }) {
  const { timeZone } = useContext(CompanyContext) ?? {};
  const said = timeZone ? localTimes(text, timeZone, now.value) : text;
  return look === undefined ? said : <p class={look}>{said}</p>;
}

/** Shows when a key or a token was created, expires, was revoked and was last used. */
export function Lifetime({ of: { createdAt, expiresAt, revokedAt, lastUsedAt } }: { of: Omit<Token, 'tokenId' | 'state'> }) {
  return (
    <p class="soft small">
      Created <Time at={createdAt} />
      <Time before="; expires " at={expiresAt} distance />
      <Time before="; revoked " at={revokedAt} />
      {lastUsedAt ? <Time before="; last used " at={lastUsedAt} distance /> : '; never used'}
    </p>
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
      <strong>{title}.</strong> <Said text={detail} />
      {retryAfterSeconds !== undefined && ` Try again in ${retryAfterSeconds} seconds.`}
      {errors.some((mistake) => !isSaid(mistake.detail)) && (
        <ul>
          {errors.map((mistake) => (
            <li key={mistake.pointer}>
              <code>{mistake.pointer || '/'}</code> <Said text={mistake.detail} />
            </li>
          ))}
        </ul>
      )}
      {type.startsWith('/problems/') && (
        <>
          {' '}
          <a href={type}>Help</a>
        </>
      )}
    </div>
  );
}

/** Shows the last answer, even if later requests fail. `Page` reports an expired session. */
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
  return <p class="note wait">The outcome is unknown. Before you retry, check whether the action was done.</p>;
}

export function UpToDate({ of }: { of: Resource<unknown> }) {
  const { timeZone } = useCompany();
  const at = of.at.value;
  if (at === undefined) return null;
  return (
    <p class="soft small">
      Updated at {timeText(new Date(at).toISOString(), timeZone, at)} ({timeZone}).
    </p>
  );
}

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

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** The element that had the focus before the first dialog opened. */
let opener: HTMLElement | undefined;

/** A modal dialog. Escape closes the dialog. Then the element that opened the dialog gets the focus again. */
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

interface ConfirmProps extends DialogProps {
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

/** Replaces a `Confirm` while its data loads, or if there is nothing to confirm. */
export function NotReady({ refused, children, ...dialog }: DialogProps & Pick<ConfirmProps, 'refused'>) {
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
      <p class="note wait">Copy this text now. You cannot see it again later.</p>
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

export function Entry({ label, hint, of, ...limits }: EntryProps & { required?: boolean; maxLength: number }) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => <input {...ids} {...limits} value={of.value} onInput={(event) => (of.value = event.currentTarget.value)} />}
    </Field>
  );
}

/** @param options - the value and the label of each option. */
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

/** The head of a table. @param caption - only screen readers read the caption. */
export function Head({ caption, columns }: { caption: string; columns: readonly ComponentChildren[] }) {
  return (
    <>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, place) => (
            <th key={place} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

/** @param cursors - the cursors of all pages up to this page. The first page has no cursor. */
export function Pager({ cursors, next }: { cursors: Signal<string[]>; next: string | undefined }) {
  const earlier = cursors.value.length > 0;
  if (!earlier && !next) return null;
  return (
    <nav aria-label="Pages of the list" class="row">
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

/** Reads the form's fields by name, and trims them. Stops the browser from submitting the form itself. */
export function fieldsOf(event: Event): Record<string, string> {
  event.preventDefault();
  const form = event.currentTarget;
  if (!(form instanceof HTMLFormElement)) return {};
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}

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
