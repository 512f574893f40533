/** Edits the fields of an action that needs attention or has failed, or the fields of a refused request. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Fields, fixedFields } from '../chain/fields.js';
import { isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { actionsText } from '../chain/text.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { path } from './addresses.js';
import { ask } from './api.js';
import { changesOf, editText, fieldAt, isLong } from './fields.js';
import { useCompany } from './session.js';
import { Area, Check, Confirm, Entry, Failure, NotReady, useDeed } from './ui/index.js';
import { titleOf } from './words.js';

interface FieldInputsProps {
  fields: Fields;
  /** The edited texts, by field name. */
  texts: Signal<Record<string, string>>;
  issues: readonly Issue[];
  /** The prefix of the JSON pointers to the fields, such as `/fields`. */
  at: string;
}

/** Shows one input for each field, and one input for each missing field that an issue names. */
export function FieldInputs({ fields, texts, issues, at }: FieldInputsProps) {
  const mentioned = issues.flatMap((issue) => fieldAt(issue, at) ?? []);
  const names = [...new Set([...Object.keys(fields), ...Object.keys(texts.value), ...mentioned])];
  const editor = (name: string) => {
    const value = fields[name];
    const wrong = issues.filter((issue) => fieldAt(issue, at) === name);
    const field = {
      label: <code>{name}</code>,
      hint: Array.isArray(value) ? 'Write one entry per line.' : undefined,
      problem: wrong.map(({ detail }) => detail).join('; '),
      value: texts.value[name] ?? editText(value),
      autocomplete: 'off',
      spellcheck: false,
      onText: (text: string) => (texts.value = { ...texts.value, [name]: text }),
    } as const;
    return isLong(value) ? <Area key={name} {...field} rows={4} /> : <Entry key={name} {...field} />;
  };
  return <>{names.filter((name) => !fixedFields.includes(name)).map(editor)}</>;
}

interface MendProps {
  chain: ChainResource;
  action: ActionResource;
  children?: ComponentChildren;
  onClose(): void;
  onDone(): void;
}

export function MendDialog({ chain: { chainId }, action, children, onClose, onDone }: MendProps) {
  const { companyId } = useCompany();
  const at = path`/co/${companyId}/chains/${chainId}/actions/${String(action.index)}`;
  const read = useSignal<{ fields: Fields; sameAssignment: number[] } | undefined>(undefined);
  const [texts, isUnchanged] = [useSignal<Record<string, string>>({}), useSignal(false)];
  const deed = useDeed();
  const load = async () => (read.value = await ask('GET', `${at}/fields`));
  useEffect(() => void deed.run(load), []);
  const dialog = { title: `Edit ${titleOf(action)}`, ...deed, onClose };
  if (!read.value) return <NotReady {...dialog}>Loading the fields…</NotReady>;
  const { fields, sameAssignment } = read.value;
  const changes = changesOf(fields, texts.value);
  const count = Object.keys(changes).length;
  const others = 'platformAssignmentId' in changes ? sameAssignment : [];
  const mend = async ({ isMeant, areAll }: Record<string, string>) => {
    isUnchanged.value = count === 0;
    if (count === 0) return;
    const asked = { fields: changes, confirmUnknown: isMeant ? true : undefined, allActions: areAll ? true : undefined };
    if (await deed.run(() => ask('POST', `${at}/mend`, asked), `Saved. The relay retries ${titleOf(action)}.`)) onDone();
  };
  return (
    <Confirm {...dialog} verb="Save and retry" onConfirm={(given) => void mend(given)}>
      {children}
      {action.error && <Failure of={{ ...action.error, assignmentId: action.assignmentId }} />}
      <p>The relay checks your changes, then retries the action. If you empty a field, the relay removes the field.</p>
      {isUnchanged.value && count === 0 && (
        <p class="note wait" role="alert">
          You have not changed anything. To retry without changes, go back and choose Retry.
        </p>
      )}
      <FieldInputs fields={fields} texts={texts} issues={deed.refused?.problem.errors ?? []} at="/fields" />
      {others.length > 0 && count === 1 && (
        <Check name="areAll" defaultChecked>
          Also change the assignment of {actionsText(others)}.
        </Check>
      )}
      {others.length > 0 && count > 1 && (
        <p class="note wait">
          The assignment of {actionsText(others)} stays the same. To change the assignment in these actions too, edit only the
          assignment and no other field.
        </p>
      )}
      {isUnknown(action) && (
        <Check name="isMeant" required>
          The outcome of the last attempt is unknown. I have checked whether the action was done, and I want to retry.
        </Check>
      )}
    </Confirm>
  );
}
