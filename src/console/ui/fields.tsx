/** Fields of forms. */

import type { Signal } from '@preact/signals';
import { type ComponentChildren, type ComponentProps, h } from 'preact';
import { useId } from 'preact/hooks';
import { fieldMistake } from '../words.js';

type EntryProps = { label: ComponentChildren; hint?: string | undefined; problem?: string | undefined };
type Typing = { onText?(text: string): void };
type FieldProps = EntryProps & Typing & { as: string; children?: ComponentChildren } & Record<string, unknown>;

/** A control with its label, its hint, and what is wrong with its value. */
function Field({ as, label, hint, problem, onText, children, ...control }: FieldProps) {
  const id = useId();
  const about = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ');
  const attributes = {
    id,
    'aria-describedby': about || undefined,
    'aria-invalid': problem ? true : undefined,
    ...(onText && { onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onText(currentTarget.value) }),
  };
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {h(as, { ...attributes, ...control }, children)}
      {problem && <span {...{ id: `${id}-problem`, class: 'error small' }}>{`${fieldMistake(problem)} `}</span>}
      {hint && <span {...{ id: `${id}-hint`, class: 'soft small' }}>{hint}</span>}
    </p>
  );
}

/** The attributes of `<input>` depend on its type. A plain `Omit` would not keep this dependence. */
type Unlabelled<Props> = Props extends unknown ? Omit<Props, 'label'> : never;
type InputProps = EntryProps & Unlabelled<ComponentProps<'input'>> & Typing & { of?: Signal<string> };

/** A text field. The signal `of` gets the text while the user types. */
export function Entry({ of, ...input }: InputProps) {
  return <Field as="input" {...input} {...(of && { value: of.value, onText: (text) => (of.value = text) })} />;
}

interface SuggestedProps extends EntryProps {
  name?: string;
  value: string;
  offers: readonly (readonly [value: string, words?: string])[];
  onText(text: string): void;
  onBlur?(): void;
}

export function Suggested({ offers, ...entry }: SuggestedProps) {
  const list = useId();
  return (
    <>
      <Entry {...entry} list={list} autocomplete="off" spellcheck={false} />
      <datalist id={list}>
        {offers.map(([value, words]) => (
          <option key={value} value={value} label={words} />
        ))}
      </datalist>
    </>
  );
}

type AreaProps = EntryProps & Omit<ComponentProps<'textarea'>, 'label'> & Typing;

export const Area = (area: AreaProps) => <Field as="textarea" {...area} />;
export const JsonArea = (area: AreaProps) => <Area class="json" spellcheck={false} {...area} />;

interface SelectProps extends EntryProps, Omit<ComponentProps<'select'>, 'label' | 'role' | 'onChange'> {
  options: readonly (readonly [value: string, words: string])[];
  /** The value that is selected at first. A Preact select has no `defaultValue`, so `Select` marks the option as the default. */
  first?: string | undefined;
  onPick?(value: string): void;
}

export function Select({ options, first, onPick, ...select }: SelectProps) {
  return (
    <Field as="select" {...select} onText={onPick}>
      {options.map(([value, words]) => (
        <option key={value} value={value} {...(value === first && { defaultSelected: true })}>
          {words}
        </option>
      ))}
    </Field>
  );
}

export function Choice({ of, ...field }: EntryProps & Pick<SelectProps, 'options'> & { of: Signal<string> }) {
  return <Select {...field} value={of.value} onPick={(value) => (of.value = value)} />;
}

interface CheckProps extends Pick<ComponentProps<'input'>, 'name' | 'defaultChecked' | 'checked' | 'required'> {
  onCheck?(isChecked: boolean): void;
  children: ComponentChildren;
}

export function Check({ onCheck, children, ...input }: CheckProps) {
  return (
    <label class="row check">
      <input type="checkbox" {...input} onChange={onCheck && (({ currentTarget }) => onCheck(currentTarget.checked))} />
      <span>{children}</span>
    </label>
  );
}

type PlainAttribute = 'maxLength' | 'readOnly' | 'required' | 'spellcheck' | 'min' | 'max' | 'step';

/** A field of a form: a list of `options`, a text of several `rows`, a checkbox (`checked`), or a line of text. */
interface FieldEntry extends EntryProps, Pick<ComponentProps<'input'>, PlainAttribute> {
  /** The value before the user changes it. */
  first?: string | undefined;
  options?: SelectProps['options'];
  rows?: number;
  checked?: boolean;
  type?: 'email' | 'number' | 'password' | 'time';
  autocomplete?: 'off' | 'new-password';
}
export type FieldTable = Readonly<Record<string, FieldEntry>>;

export function FormFields({ of }: { of: FieldTable }) {
  return Object.entries(of).map(([name, { label, hint, problem, options, rows, checked, first, type, ...input }]) => {
    const field = { name, label, hint, problem };
    if (options) return <Select key={name} {...field} options={options} first={first} />;
    if (rows) return <Area key={name} {...field} rows={rows} maxLength={input.maxLength} defaultValue={first} />;
    // TypeScript needs `as`, because Preact has a separate TypeScript type for each type of input.
    if (checked === undefined) return <Entry key={name} {...field} {...input} type={type as 'text'} defaultValue={first} />;
    return <Check key={name} {...{ name, defaultChecked: checked, children: label }} />;
  });
}

/** Reads the form's fields by name, and trims them. Stops the browser from submitting the form itself. */
export function fieldsOf(event: Event): Record<string, string> {
  event.preventDefault();
  const form = event.currentTarget;
  if (!(form instanceof HTMLFormElement)) return {};
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
}
