/** Buttons, the changes that they make, and the dialogs that they open. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { announce, Refused, refreshAll } from '../base.js';
import { type FieldTable, FormFields, fieldsOf } from './fields.js';
import { ProblemNote } from './known.js';

/** `back`: the words of a button that closes the dialog. */
export type DialogProps = { title: string; back?: string; onClose(): void; children?: ComponentChildren };

/** The element that had the focus before the first dialog opened. */
let opener: HTMLElement | undefined;

/** A modal dialog. Escape closes the dialog. Then the element that opened the dialog gets the focus again. */
export function Dialog({ title, back, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
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
      {back && <Button onClick={onClose}>{back}</Button>}
    </dialog>
  );
}

export function ButtonTo({ href, children }: { href: string; children: ComponentChildren }) {
  return <a {...{ class: 'button main', href }}>{children}</a>;
}

export interface ConfirmProps extends DialogProps {
  verb: string;
  danger?: boolean;
  busy?: boolean;
  refused?: Refused | undefined;
  /** A paragraph above the other content. */
  about?: ComponentChildren;
  fields?: FieldTable;
  /** @param given - the values of the fields by name. */
  onConfirm(given: Record<string, string>): void;
}

export function Confirm({ about, children, verb, danger, busy = false, refused, fields, onConfirm, ...dialog }: ConfirmProps) {
  return (
    <Dialog {...dialog}>
      <form onSubmit={(event) => onConfirm(fieldsOf(event))}>
        {about && <p>{about}</p>}
        {children}
        {fields && <FormFields of={fields} />}
        <Submit busy={busy} refused={refused} words={busy ? 'One moment…' : verb} danger={danger}>
          <Button onClick={dialog.onClose}>Back</Button>
        </Submit>
      </form>
    </Dialog>
  );
}

interface DeedProps extends Omit<ConfirmProps, 'busy' | 'refused' | 'onConfirm'> {
  change(given: Record<string, string>): Promise<unknown>;
  words: string;
  onDone?(): void;
}

/** Asks for confirmation of a change, makes the change through the API, and closes if the change succeeds. */
export function Deed({ change, words, onDone, ...dialog }: DeedProps) {
  const deed = useDeed();
  const confirmed = async (given: Record<string, string>) => {
    if (!(await deed.run(() => change(given), words))) return;
    dialog.onClose();
    onDone?.();
  };
  return <Confirm {...dialog} {...deed} onConfirm={(given) => void confirmed(given)} />;
}

interface OpenerProps {
  opens: string;
  /** The end of the button's name. Only screen readers read it. */
  unseen?: string | undefined;
  look?: 'main' | 'danger' | 'quiet' | undefined;
  children(onClose: () => void): ComponentChildren;
}

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

type DeedButtonProps = Omit<DeedProps, 'onClose'> & Partial<Pick<OpenerProps, 'opens' | 'unseen' | 'look'>>;

/** A button for a change that needs a confirmation. By default, the buttons on the page and in the dialog have the same name. */
export function DeedButton({ opens, unseen, look, ...deed }: DeedButtonProps) {
  return (
    <Opener opens={opens ?? deed.verb} unseen={unseen} look={look ?? (deed.danger ? 'danger' : undefined)}>
      {(onClose) => <Deed {...deed} onClose={onClose} />}
    </Opener>
  );
}

/** Replaces a `Confirm` while its data loads, or if there is nothing to confirm. */
export function NotReady({ refused, children, ...dialog }: DialogProps & Pick<ConfirmProps, 'refused'>) {
  return (
    <Dialog back="Back" {...dialog}>
      {!refused && <p>{children}</p>}
      <ProblemNote refused={refused} />
    </Dialog>
  );
}

/** A button that copies the text. Some browsers cannot copy on pages without TLS. */
export function Copy({ text, words = 'Copy' }: { text: string; words?: string }) {
  const copied = useSignal(words);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = 'Copied';
    announce('Copied');
  };
  return 'clipboard' in navigator ? <Button {...{ class: 'main', onClick: () => void copy() }}>{copied}</Button> : null;
}

interface SecretProps extends Omit<DeedProps, 'change' | 'title' | 'onClose'> {
  /** The name of the button and of its dialog. */
  opens: string;
  /** The title of the dialog that shows the secret. */
  shown: string;
  /** What to do with the secret. */
  help: string;
  change(given: Record<string, string>): Promise<string>;
}

/** A button that makes a secret. Then a dialog shows the secret once. */
export function SecretButton({ opens, shown, help, change, ...deed }: SecretProps) {
  const made = useSignal('');
  const close = () => (made.value = '');
  return (
    <>
      <DeedButton {...{ ...deed, opens, title: opens }} change={async (given) => (made.value = await change(given))} />
      {made.value && (
        <Dialog title={shown} onClose={close}>
          <p>{help}</p>
          <code class="secret">{made}</code>
          <p class="note wait">Copy this text now. You cannot see it again later.</p>
          <p class="row">
            <Copy text={made.value} />
            <Button onClick={close}>Done</Button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** Runs changes through the API. Tells whether a change is running, and why the API refused the last change. */
export function useDeed() {
  const [busy, refused] = [useSignal(false), useSignal<Refused | undefined>(undefined)];
  /** @param words - announced if the change succeeds; undefined if the deed changes nothing. @returns whether the deed succeeded. */
  const run = async (deed: () => Promise<unknown>, words?: string): Promise<boolean> => {
    if (busy.value) return false;
    [busy.value, refused.value] = [true, undefined];
    try {
      await deed();
      if (words) announce(words);
      if (words !== undefined) refreshAll();
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
export const Button = (props: ComponentProps<'button'>) => <button type="button" {...props} />;

type SubmitProps = Pick<ConfirmProps, 'busy' | 'refused' | 'danger' | 'children'> & { words: ComponentChildren };

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
