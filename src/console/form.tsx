/** Forms that edit stored data. A form saves only the edited fields. The other fields show the changes of other users. */

import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export function changedIn(form: EventTarget | null): ReadonlySet<string> {
  const fields = form instanceof HTMLFormElement ? [...form.elements] : [];
  return new Set(fields.filter(isChanged).map((field) => field.getAttribute('name') ?? ''));
}

function isChanged(field: Element): boolean {
  if (field instanceof HTMLSelectElement) return !field.selectedOptions[0]?.defaultSelected;
  if (field instanceof HTMLInputElement && field.type === 'checkbox') return field.checked !== field.defaultChecked;
  return (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue;
}

export function only<Fields extends object>(names: ReadonlySet<string>, fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name))) as Partial<Fields>;
}

/** @returns `ref` for the form, and `saved`. Call `saved` after a save, so that no field counts as edited any more. */
export function useForm() {
  const [ref, saves] = [useRef<HTMLFormElement>(null), useSignal(0)];
  useLayoutEffect(() => ref.current?.reset(), [saves.value]);
  return { ref, saved: () => (saves.value += 1) };
}
