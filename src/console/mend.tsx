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
import { useDeed } from './ui/buttons.js';
import { Confirm, NotReady } from './ui/dialog.js';
import { Area, Entry } from './ui/fields.js';
import { Failure } from './ui/text.js';
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
      onInput: (event: { currentTarget: { value: string } }) => {
        texts.value = { ...texts.value, [name]: event.currentTarget.value };
      },
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
  const areAll = useSignal(true);
  const texts = useSignal<Record<string, string>>({});
  const isMeant = useSignal(false);
  const isUnchanged = useSignal(false);
  const deed = useDeed();
  useEffect(() => {
    void deed.run(async () => {
      read.value = await ask('GET', `${at}/fields`);
    });
  }, []);
  const dialog = { title: `Edit ${titleOf(action)}`, busy: deed.busy, refused: deed.refused, onClose };
  const known = read.value?.fields;
  if (!known) return <NotReady {...dialog}>Loading the fields…</NotReady>;
  const changes = changesOf(known, texts.value);
  const hasChanges = Object.keys(changes).length > 0;
  const others = 'platformAssignmentId' in changes ? (read.value?.sameAssignment ?? []) : [];
  const isMoveAlone = Object.keys(changes).length === 1;
  const mend = async () => {
    isUnchanged.value = !hasChanges;
    if (!hasChanges) return;
    const allActions = others.length > 0 && isMoveAlone && areAll.value;
    const asked = { fields: changes, confirmUnknown: isMeant.value || undefined, allActions: allActions || undefined };
    if (await deed.run(() => ask('POST', `${at}/mend`, asked), `Saved. The relay retries ${titleOf(action)}.`)) onDone();
  };
  return (
    <Confirm {...dialog} verb="Save and retry" onConfirm={() => void mend()}>
      {children}
      {action.error && <Failure of={{ ...action.error, assignmentId: action.assignmentId }} />}
      <p>The relay checks your changes, then retries the action. If you empty a field, the relay removes the field.</p>
      {isUnchanged.value && !hasChanges && (
        <p class="note wait" role="alert">
          You have not changed anything. To retry without changes, go back and choose Retry.
        </p>
      )}
      <FieldInputs fields={known} texts={texts} issues={deed.refused?.problem.errors ?? []} at="/fields" />
      {others.length > 0 && (
        <p class="note wait">
          {isMoveAlone ? (
            <label class="row">
              <input type="checkbox" checked={areAll.value} onChange={(event) => (areAll.value = event.currentTarget.checked)} />
              Also change the assignment of {actionsText(others)}.
            </label>
          ) : (
            `The assignment of ${actionsText(others)} stays the same. To change the assignment in these actions too, edit only the assignment and no other field.`
          )}
        </p>
      )}
      {isUnknown(action) && (
        <p class="note wait">
          <label class="row">
            <input
              type="checkbox"
              required
              checked={isMeant.value}
              onChange={(event) => (isMeant.value = event.currentTarget.checked)}
            />
            The outcome of the last attempt is unknown. I have checked whether the action was done, and I want to retry.
          </label>
        </p>
      )}
    </Confirm>
  );
}
