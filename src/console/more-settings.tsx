/** The settings that only an operator changes, and all connections as JSON. */

import { useSignal } from '@preact/signals';
import type { StoredCompany } from '../contract/company.js';
import { ask } from './api.js';
import { partWords, type SettingsProps } from './connection.js';
import { readObject } from './fields.js';
import { isOperator } from './session.js';
import { Submit, useDeed } from './ui/buttons.js';
import { Area } from './ui/fields.js';
import { Fact } from './ui/text.js';

export function MoreSettings({ company, at, onSaved }: SettingsProps) {
  const { platform, ticketing, mail, limits, webhookSecret } = company;
  const shown = { mail, limits, webhookSecret };
  return (
    <section class="card" aria-labelledby="more">
      <h2 id="more">More settings</h2>
      <p class="soft">
        {isOperator() ? '' : 'Only the operator of the relay can change these settings. '}This page never shows secrets.
      </p>
      <dl class="facts tall">
        {Object.entries(shown).map(([name, value]) => (
          <Fact key={name} name={partWords[name as keyof typeof partWords]}>
            {value === undefined ? (
              <span class="soft">not set</span>
            ) : (
              <ul class="plain">
                {factsIn(value).map(([field, text]) => (
                  <li key={field}>
                    {field && <span class="soft">{field}: </span>}
                    {text}
                  </li>
                ))}
              </ul>
            )}
          </Fact>
        ))}
      </dl>
      {isOperator() && (
        <details>
          <summary>Edit the connections</summary>
          <ConnectionsForm sections={{ platform, ticketing, ...shown }} at={at} onSaved={onSaved} />
        </details>
      )}
    </section>
  );
}

type Sections = Record<string, unknown>;

interface ConnectionsFormProps extends Omit<SettingsProps, 'company'> {
  sections: Sections;
}

/** Edits the connections as the API's JSON. If a secret stays `***`, the API keeps the stored secret. */
function ConnectionsForm({ sections, at, onSaved }: ConnectionsFormProps) {
  /** The edited text, and the settings from before the edit. */
  const typed = useSignal<{ text: string; before: Sections } | undefined>(undefined);
  const mistake = useSignal('');
  const { text = JSON.stringify(sections, undefined, 2), before = sections } = typed.value ?? {};
  const deed = useDeed();
  const save = async (event: Event) => {
    event.preventDefault();
    const read = readObject(text);
    mistake.value = read ? '' : 'This is not a JSON object';
    if (!read) return;
    const names = Object.keys({ ...before, ...read }).filter((name) => !isSame(before[name], read[name]));
    const given = Object.fromEntries(names.map((name) => [name, read[name] ?? null]));
    await deed.run(async () => {
      const { name } = await ask<StoredCompany>('GET', at);
      onSaved(await ask<StoredCompany>('PUT', at, { ...given, name }));
      typed.value = undefined;
    }, 'Saved');
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <Area
        label="Connections as JSON"
        hint="The sections are platform, ticketing, mail, limits and webhookSecret. To remove a section, delete it here. Leave *** to keep a stored secret."
        problem={mistake.value}
        class="json"
        spellcheck={false}
        rows={14}
        value={text}
        onInput={(event) => (typed.value = { text: event.currentTarget.value, before })}
      />
      <Submit {...deed} words="Save connections" />
    </form>
  );
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The path and the text of each field, for example `auth.type` and `bearer`. */
function factsIn(value: unknown, at = ''): [field: string, text: string][] {
  if (typeof value !== 'object' || value === null) return [[at, String(value)]];
  return Object.entries(value).flatMap(([name, inner]) =>
    Array.isArray(inner) ? [[name, inner.join(', ')] as [string, string]] : factsIn(inner, at ? `${at}.${name}` : name),
  );
}
