/** Forms of what is stored: what others change shows where nobody has typed; what somebody has typed stays, and only that is sent. */

import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface OptionsProps {
  /** Each value, and its words. */
  of: readonly (readonly [value: string, words: string])[];
  /** The one to begin with. Preact knows no `defaultValue` of a select: it is the option that has to say so. */
  first: string;
}

export function Options({ of, first }: OptionsProps) {
  return (
    <>
      {of.map(([value, words]) => (
        <option key={value} value={value} {...(value === first && { defaultSelected: true })}>
          {words}
        </option>
      ))}
    </>
  );
}

/** The names of the fields of a form that are not as it has shown them. */
export function changedIn(form: EventTarget | null): ReadonlySet<string> {
  const fields = form instanceof HTMLFormElement ? [...form.elements] : [];
  return new Set(fields.filter(isChanged).map(({ name }) => name));
}

type FormField = HTMLSelectElement | HTMLInputElement | HTMLTextAreaElement;

function isChanged(field: Element): field is FormField {
  if (field instanceof HTMLSelectElement) return !field.selectedOptions[0]?.defaultSelected;
  if (field instanceof HTMLInputElement && field.type === 'checkbox') return field.checked !== field.defaultChecked;
  return (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue;
}

/** Those of the fields that have one of the names. */
export function only<Fields extends object>(names: ReadonlySet<string>, fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name))) as Partial<Fields>;
}

/** @returns for the form its `ref`, and what to call once it is given what was saved: from then on nobody has typed in it. */
export function useForm() {
  const [ref, saves] = [useRef<HTMLFormElement>(null), useSignal(0)];
  useLayoutEffect(() => ref.current?.reset(), [saves.value]);
  return { ref, saved: () => (saves.value += 1) };
}
