/** The settings that only an operator changes, and all connections as JSON. */

import { useSignal } from '@preact/signals';
import type { Fields } from '../chain/fields.js';
import type { StoredCompany } from '../contract/company.js';
import { ask } from './api.js';
import { partWords, type SettingsProps } from './connection.js';
import { readObject } from './fields.js';
import { isOperator } from './session.js';
import { Area, FieldList, Section, Submit, useDeed } from './ui/index.js';

const own = ['mail', 'limits', 'webhookSecret'] as const;

export function MoreSettings({ company, ...form }: SettingsProps) {
  return (
    <Section title="More settings">
      <p class="soft">
        {!isOperator() && 'Only the operator of the relay can change these settings. '}This page never shows secrets.
      </p>
      {own.map((name) => (
        <section key={name}>
          <h3>{partWords[name]}</h3>
          {company[name] === undefined ? <p class="soft">not set</p> : <FieldList fields={factsIn(company[name])} />}
        </section>
      ))}
      {isOperator() && (
        <details>
          <summary>Edit the connections</summary>
          <ConnectionsForm company={company} {...form} />
        </details>
      )}
    </Section>
  );
}

/** Edits the connections as the API's JSON. If a secret stays `***`, the API keeps the stored secret. */
function ConnectionsForm({ company, at, onSaved }: SettingsProps) {
  const { platform, ticketing, mail, limits, webhookSecret } = company;
  const sections: Fields = { platform, ticketing, mail, limits, webhookSecret };
  /** The edited text, and the settings from before the edit. */
  const typed = useSignal<{ text: string; before: Fields } | undefined>(undefined);
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
        onText={(text) => (typed.value = { text, before })}
      />
      <Submit {...deed} words="Save connections" />
    </form>
  );
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The path and the text of each field, for example `auth.type` and `bearer`. */
function factsIn(value: unknown, at = ''): [field: string, text: unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[at, value]];
  return Object.entries(value).flatMap(([name, inner]) => factsIn(inner, at ? `${at}.${name}` : name));
}
