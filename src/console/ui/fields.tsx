/** Fields of forms. */

import type { Signal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { useId } from 'preact/hooks';

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

/** Reads the form's fields by name, and trims them. Stops the browser from submitting the form itself. */
export function fieldsOf(event: Event): Record<string, string> {
  event.preventDefault();
  const form = event.currentTarget;
  if (!(form instanceof HTMLFormElement)) return {};
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}
