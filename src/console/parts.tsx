/** Components that the pages share. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { useContext, useEffect, useId, useRef } from 'preact/hooks';
import type { ActionState, ChainStatus } from '../chain/outcome.js';
import type { ActionResource } from '../contract/chain-resource.js';
import type { Token } from '../contract/credential.js';
import { Refused } from './api.js';
import { editText } from './fields.js';
import { announce, SessionIsOver } from './frame.js';
import { type Resource, seldom, useResource } from './resource.js';
import { CompanyContext, useCompany } from './session.js';
import { fromNow, localTimes, timeText, wholeTimeText } from './when.js';
import { type Failure as FailureOf, failureDetails, failureRemedy, failureTitle, stateWords, toneOf } from './words.js';

export function State({ of, result }: { of: ActionState | ChainStatus; result?: ActionResource['result'] }) {
  return <span class={`badge ${toneOf(of, result)}`}>{stateWords(of, result)}</span>;
}

/** The time, ten seconds exact. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

interface TimeProps {
  at: string | undefined;
  /** Adds `(5 minutes ago)`. */
  distance?: boolean;
  before?: string;
  look?: string;
}

/** Shows `before` and the time in the company's zone; nothing if `at` is undefined. */
export function Time({ at, distance, before, look }: TimeProps) {
  const { timeZone } = useCompany();
  if (!at) return null;
  return (
    <>
      {before}
      <time class={look} dateTime={at} title={wholeTimeText(at, timeZone)}>
        {timeText(at, timeZone, now.value)}
        {distance && <span class="soft"> ({fromNow(at, now.value)})</span>}
      </time>
    </>
  );
}

/** Shows a text from the API, with its times in the company's zone. @param look - makes a paragraph with this CSS class. */
export function Said({ text, look }: { text: string; look?: string }) {
  const { timeZone } = useContext(CompanyContext) ?? {};
  const said = timeZone ? localTimes(text, timeZone, now.value) : text;
  return look === undefined ? said : <p class={look}>{said}</p>;
}

interface FailureProps {
  of: Omit<FailureOf, 'type'> & { type?: string };
  /** The heading above. If it is the same as the title, the title is not shown again. */
  under?: string;
}

/** Shows what happened and what to do. The line of the call is under "Details". */
export function Failure({ of, under }: FailureProps) {
  const failure = { type: '', ...of };
  const [title, remedy, details] = [failureTitle(failure), failureRemedy(failure), failureDetails(failure)];
  return (
    <>
      <p>
        {title !== under && (
          <strong class="error">
            <Said text={title} />.
          </strong>
        )}{' '}
        {remedy && <Said text={`${remedy}.`} />}
      </p>
      {details && (
        <details class="small">
          <summary>Details</summary>
          <Said look="error" text={details} />
        </details>
      )}
    </>
  );
}

/** Shows when a key or a token was created, expires, was revoked and was last used. */
export function Lifetime({
  of: { createdAt, expiresAt, revokedAt, lastUsedAt },
}: {
  of: Omit<Token, 'tokenId' | 'purpose' | 'state'>;
}) {
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

interface FoldProps {
  summary: ComponentChildren;
  look?: string;
  /** Opens the section, for example because it has a mistake. The section stays open after that. */
  isNeeded: boolean;
  children: ComponentChildren;
}

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

interface AskedProps<Body> {
  summary: string;
  path: string;
  /** The content above the answer. */
  above?: ComponentChildren;
  children(body: Body): ComponentChildren;
}

/** A section that loads its content when the user opens the section. */
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

export interface ConfirmProps extends DialogProps {
  verb: string;
  danger?: boolean;
  busy: boolean;
  refused: Refused | undefined;
  onConfirm(): void;
}

export function Confirm({ children, verb, danger, busy, refused, onConfirm, ...dialog }: ConfirmProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog {...dialog}>
      <form onSubmit={submit}>
        {children}
        <Submit busy={busy} refused={refused} words={busy ? 'One moment…' : verb} danger={danger}>
          <Button onClick={dialog.onClose}>Back</Button>
        </Submit>
      </form>
    </Dialog>
  );
}

interface DeedProps extends Omit<ConfirmProps, 'busy' | 'refused' | 'onConfirm'> {
  change(): Promise<unknown>;
  /** Announced if the change succeeds. */
  words: string;
  onDone?(): void;
}

/** Asks for confirmation of a change, makes the change through the API, and closes if the change succeeds. */
export function Deed({ change, words, onDone, ...dialog }: DeedProps) {
  const deed = useDeed();
  const confirmed = async () => {
    if (!(await deed.run(change, words))) return;
    dialog.onClose();
    onDone?.();
  };
  return <Confirm {...dialog} {...deed} onConfirm={() => void confirmed()} />;
}

interface OpenerProps {
  opens: string;
  /** The end of the button's name. Only screen readers read it. */
  unseen?: string | undefined;
  look?: 'main' | 'danger' | undefined;
  /** Makes the dialog. */
  children(onClose: () => void): ComponentChildren;
}

/** A button that opens a dialog. */
export function Opener({ opens, unseen, look, children }: OpenerProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button class={look} onClick={() => (isOpen.value = true)}>
        {opens}
        {unseen && <span class="unseen"> {unseen}</span>}…
      </Button>
      {isOpen.value && children(() => (isOpen.value = false))}
    </>
  );
}

type DeedButtonProps = Omit<DeedProps, 'onClose'> & Partial<Pick<OpenerProps, 'opens' | 'unseen'>>;

/** A button for a change that needs a confirmation. By default, the buttons on the page and in the dialog have the same name. */
export function DeedButton({ opens, unseen, ...deed }: DeedButtonProps) {
  return (
    <Opener opens={opens ?? deed.verb} unseen={unseen} look={deed.danger ? 'danger' : undefined}>
      {(onClose) => <Deed {...deed} onClose={onClose} />}
    </Opener>
  );
}

/** Replaces a `Confirm` while its data loads, or if there is nothing to confirm. */
export function NotReady({ refused, children, ...dialog }: DialogProps & Pick<ConfirmProps, 'refused'>) {
  return (
    <Dialog {...dialog}>
      {!refused && <p>{children}</p>}
      <ProblemNote refused={refused} />
      <p class="row">
        <Button onClick={dialog.onClose}>Back</Button>
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
          <Button class="main" onClick={() => void copy()}>
            {copied.value ? 'Copied' : 'Copy'}
          </Button>
        )}
        <Button onClick={onClose}>Done</Button>
      </p>
    </Dialog>
  );
}

interface FieldProps {
  label: ComponentChildren;
  hint?: string;
  problem?: string;
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ComponentChildren;
}

function Field({ label, hint, problem, children }: FieldProps) {
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

type EntryProps = Pick<FieldProps, 'label' | 'hint' | 'problem'>;
/** The attributes of `<input>` depend on its type, and a plain `Omit` would join all types. */
type Unlabelled<Props> = Props extends unknown ? Omit<Props, 'label'> : never;
type Typed = { currentTarget: { value: string } };
interface Typing {
  onText?(text: string): void;
}
type InputProps = EntryProps & Unlabelled<ComponentProps<'input'>> & Typing & { of?: Signal<string> };

const typing = ({ onText }: Typing) => onText && { onInput: ({ currentTarget }: Typed) => onText(currentTarget.value) };

/** A text field. With `of`, the signal has the text while the user types. */
export function Entry({ label, hint, problem, of, onText, ...input }: InputProps) {
  const typed = of ? { value: of.value, ...typing({ onText: (text) => (of.value = text) }) } : typing({ onText });
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(ids) => <input {...ids} {...input} {...typed} />}
    </Field>
  );
}

interface SuggestedProps extends EntryProps {
  name?: string;
  value: string;
  offers: readonly (readonly [value: string, words?: string])[];
  onText(text: string): void;
  onBlur?(): void;
}

/** A text field for which the browser suggests values. */
export function Suggested({ label, hint, problem, offers, onText, ...input }: SuggestedProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(ids) => (
        <>
          <input {...ids} {...input} {...typing({ onText })} list={list} autocomplete="off" spellcheck={false} />
          <datalist id={list}>
            {offers.map(([value, words]) => (
              <option key={value} value={value} label={words} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

type AreaProps = EntryProps & Omit<ComponentProps<'textarea'>, 'label'> & Typing;

export function Area({ label, hint, problem, onText, ...area }: AreaProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(ids) => <textarea {...ids} {...area} {...typing({ onText })} />}
    </Field>
  );
}

interface SelectProps extends EntryProps, Omit<ComponentProps<'select'>, 'label' | 'role' | 'onChange'> {
  options: readonly (readonly [value: string, words: string])[];
  /** The value that is selected at first. A Preact select has no `defaultValue`, so `Select` marks the option as the default. */
  first?: string;
  onPick?(value: string): void;
}

export function Select({ label, hint, problem, options, first, onPick, ...select }: SelectProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(ids) => (
        <select {...ids} {...select} onChange={onPick && ((event) => onPick(event.currentTarget.value))}>
          {options.map(([value, words]) => (
            <option key={value} value={value} {...(value === first && { defaultSelected: true })}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Choice({ of, ...field }: EntryProps & Pick<SelectProps, 'options'> & { of: Signal<string> }) {
  return <Select {...field} value={of.value} onPick={(value) => (of.value = value)} />;
}

interface TableProps {
  /** Only screen readers read the caption. */
  caption: string;
  columns: readonly ComponentChildren[];
  look?: string;
  /** The rows. */
  children: ComponentChildren;
}

export function Table({ caption, columns, look, children }: TableProps) {
  return (
    <table class={look}>
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
      <tbody>{children}</tbody>
    </table>
  );
}

/** @param cursors - the cursors of all pages up to this page. The first page has no cursor. */
export function Pager({ cursors, next }: { cursors: Signal<string[]>; next: string | undefined }) {
  const earlier = cursors.value.length > 0;
  if (!earlier && !next) return null;
  return (
    <nav aria-label="Pages of the list" class="row">
      {earlier && <Button onClick={() => (cursors.value = cursors.value.slice(0, -1))}>Back</Button>}
      {next && <Button onClick={() => (cursors.value = [...cursors.value, next])}>More</Button>}
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

/** A name and a value in a `<dl>`. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function FieldList({ fields }: { fields: readonly [name: string, value: unknown][] }) {
  if (fields.length === 0) return null;
  return (
    <dl class="facts small">
      {fields.map(([name, value]) => (
        <Fact key={name} name={name}>
          {Array.isArray(value) ? value.join(', ') : editText(value)}
        </Fact>
      ))}
    </dl>
  );
}
