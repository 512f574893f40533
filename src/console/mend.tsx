/** Mending: the fields of an action that is held or has failed, or of a request that was refused, changed and tried again. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { type Fields, fixedFields } from '../chain/fields.js';
import { isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { path } from './addresses.js';
import { ask } from './api.js';
import { changesOf, editText, fieldAt, isLong } from './fields.js';
import { Confirm, NotReady, useDeed } from './parts.js';
import { useCompany } from './session.js';
import { titleOf } from './words.js';

interface FieldInputsProps {
  fields: Fields;
  /** What was edited, by name. */
  texts: Signal<Record<string, string>>;
  /** What was wrong, with the pointers of the request. */
  issues: readonly Issue[];
  /** What stands before a field in these: `/fields`. */
  at: string;
}

/** An input for each field that is there, and for each of which something is said: one that is missing, too. */
export function FieldInputs({ fields, texts, issues, at }: FieldInputsProps) {
  const mentioned = issues.flatMap((issue) => fieldAt(issue, at) ?? []);
  const names = [...new Set([...Object.keys(fields), ...Object.keys(texts.value), ...mentioned])];
  return (
    <>
      {names
        .filter((name) => !fixedFields.includes(name))
        .map((name) => (
          <FieldInput
            key={name}
            name={name}
            value={fields[name]}
            texts={texts}
            issues={issues.filter((i) => fieldAt(i, at) === name)}
          />
        ))}
    </>
  );
}

type FieldInputProps = Pick<FieldInputsProps, 'texts' | 'issues'> & { name: string; value: unknown };

function FieldInput({ name, value, texts, issues }: FieldInputProps) {
  const id = useId();
  const shared = {
    id,
    value: texts.value[name] ?? editText(value),
    'aria-invalid': issues.length > 0,
    'aria-describedby': `${id}-said`,
    autocomplete: 'off',
    spellcheck: false,
    onInput: (event: { currentTarget: { value: string } }) => {
      texts.value = { ...texts.value, [name]: event.currentTarget.value };
    },
  } as const;
  return (
    <p class="field">
      <label for={id}>
        <code>{name}</code>
      </label>
      {isLong(value) ? <textarea {...shared} rows={4} /> : <input {...shared} />}
      <span id={`${id}-said`} class="small">
        {Array.isArray(value) && <span class="soft">One a line. </span>}
        {issues.map(({ pointer, detail }) => (
          <span key={pointer} class="error">
            {detail}{' '}
          </span>
        ))}
      </span>
    </p>
  );
}

interface MendProps {
  chain: ChainResource;
  action: ActionResource;
  /** What is to be known before it. */
  children?: ComponentChildren;
  onClose(): void;
  onDone(): void;
}

export function MendDialog({ chain: { chainId }, action, children, onClose, onDone }: MendProps) {
  const { companyId } = useCompany();
  const at = path`/co/${companyId}/chains/${chainId}/actions/${String(action.index)}`;
  const fields = useSignal<Fields | undefined>(undefined);
  const texts = useSignal<Record<string, string>>({});
  const isMeant = useSignal(false);
  /** Whether nothing was changed when it was to be tried. */
  const isAsIs = useSignal(false);
  const deed = useDeed();
  useEffect(() => {
    void deed.run(async () => {
      fields.value = (await ask<{ fields: Fields }>('GET', `${at}/fields`)).fields;
    });
  }, []);
  const dialog = { title: `Mend ${titleOf(action)}`, busy: deed.busy, refused: deed.refused, onClose };
  const known = fields.value;
  if (!known) return <NotReady {...dialog}>Looking at what was sent…</NotReady>;
  const changes = changesOf(known, texts.value);
  const hasChanges = Object.keys(changes).length > 0;
  const mend = async () => {
    isAsIs.value = !hasChanges;
    if (!hasChanges) return;
    const asked = { fields: changes, confirmUnknown: isMeant.value || undefined };
    if (await deed.run(() => ask('POST', `${at}/mend`, asked), `${titleOf(action)} is mended, and tried again.`)) onDone();
  };
  return (
    <Confirm {...dialog} verb="Mend it and try again" onConfirm={() => void mend()}>
      {children}
      {action.error && <p class="error">{action.error.message}</p>}
      <p>What you change is checked as a request is, and the action is tried again with it. What is emptied is left out.</p>
      {isAsIs.value && !hasChanges && (
        <p class="note wait" role="alert">
          Nothing is changed yet. To try it again as it is, go back and retry it.
        </p>
      )}
      <FieldInputs fields={known} texts={texts} issues={deed.refused?.problem.errors ?? []} at="/fields" />
      {isUnknown(action) && (
        <p class="note wait">
          <label class="row">
            <input
              type="checkbox"
              required
              checked={isMeant.value}
              onChange={(event) => (isMeant.value = event.currentTarget.checked)}
            />
            Nobody knows whether the last try took effect. I have looked on the other side, and mean it.
          </label>
        </p>
      )}
    </Confirm>
  );
}
