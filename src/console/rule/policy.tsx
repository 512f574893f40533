/** The policy and contacts of a rule, and whether it is enabled. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { ruleSchema } from '../../contract/rule.js';
import { ask } from '../api.js';
import { changedIn, only, useForm } from '../form.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import { Button, Submit, useDeed } from '../ui/buttons.js';
import { Deed } from '../ui/dialog.js';
import { Entry, fieldsOf, Select } from '../ui/fields.js';
import { onFailureWords, onUnknownWords } from '../words.js';

export type Rule = z.infer<typeof ruleSchema>;

export function Policy({ rule, at, onSaved }: { rule: Rule; at: string; onSaved(rule: Rule): void }) {
  const deed = useDeed();
  const form = useForm();
  const isAsked = useSignal(false);
  const change = async (patch: object) => onSaved(await ask<Rule>('PATCH', at, patch));
  const save = async (event: Event) => {
    const changed = changedIn(event.currentTarget);
    const { name, onFailure, onUnknown, ...contacts } = fieldsOf(event);
    const told = only(changed, notifyPatch(contacts));
    // An empty object would be stored as the rule's own contacts, and a rule with its own contacts has its own causes.
    const notify = Object.keys(told).length > 0 ? told : undefined;
    const patch = { ...only(changed, { name, onFailure, onUnknown }), notify };
    if (await deed.run(() => change(patch), 'Saved')) form.saved();
  };
  const { name, enabled, onFailure, onUnknown, notify } = rule;
  return (
    <>
      <form class="card" onSubmit={(event) => void save(event)} ref={form.ref}>
        <Entry label="Name" name="name" required maxLength={200} defaultValue={name} />
        <Select label="If an action fails" name="onFailure" options={Object.entries(onFailureWords)} first={onFailure} />
        <Select
          label="If the outcome is unknown"
          hint="For example, the connection breaks before the mail server confirms a message."
          name="onUnknown"
          options={Object.entries(onUnknownWords)}
          first={onUnknown}
        />
        <NotifyFields notify={notify} of="rule" />
        <Submit {...deed} words="Save">
          {enabled ? (
            <Button onClick={() => (isAsked.value = true)}>Disable…</Button>
          ) : (
            <Button aria-disabled={deed.busy} onClick={() => void deed.run(() => change({ enabled: true }), 'Rule enabled.')}>
              Enable
            </Button>
          )}
          <span class="soft small">
            {enabled ? 'Enabled.' : 'Disabled. The relay refuses new requests, and skips actions that become due.'}
          </span>
        </Submit>
      </form>
      {isAsked.value && (
        <Deed
          title={`Disable ${name}?`}
          verb="Disable"
          danger
          change={() => change({ enabled: false })}
          words="Rule disabled."
          onClose={() => (isAsked.value = false)}
        >
          <p>
            New requests are refused. The relay keeps these requests, and you can send them later. The relay skips actions that
            become due. You cannot undo a skip.
          </p>
        </Deed>
      )}
    </>
  );
}
