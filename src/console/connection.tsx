/** The connections to other systems: a form with the settings of the chosen kind, a check, and all connections as JSON. */

import { useSignal } from '@preact/signals';
import type { Fields } from '../chain/fields.js';
import { type Kind, platformKinds, type Setting, ticketingKinds } from '../chain/kinds.js';
import { announce, ask, changedIn, isOperator, useCompany, useForm } from './base.js';
import { objectMistake, readObject } from './fields.js';
import type { Checked, CheckedPart, checkResponse, StoredCompany, z } from './types.js';
import { FormFields, fieldsOf, JsonArea, Select } from './ui/fields.js';
import { Badge, Button, Failure, FieldList, ProblemNote, Said, Section, Submit, useDeed } from './ui/index.js';
import { checkedText } from './words.js';

export const partWords: Record<CheckedPart | 'limits' | 'webhookSecret', string> = {
  ...{ platform: 'Assignment platform', ticketing: 'Ticket system', mail: 'Mail', limits: 'Limits' },
  ...{ webhookSecret: 'Key that signs webhooks', contacts: 'Contacts', rules: 'Rules', pauses: 'Pauses' },
};

export const checkSettings = async (at: string, ids: object): Promise<Checked[]> =>
  (await ask<z.infer<typeof checkResponse>>('POST', `${at}/check`, ids)).checked;

export function CheckedLine({ of: { part, works, title, remedy, detail } }: { of: Checked }) {
  return (
    <div>
      <Badge tone={works ? 'good' : 'bad'}>{works ? 'works' : 'does not work'}</Badge> {title && partWords[part]}
      {title ? <Failure of={{ title, remedy, message: detail }} /> : <Said text={checkedText(partWords[part], detail)} />}
    </div>
  );
}

/** A kind for the relay's HTTP interface with one type of `auth`. A person can set other types of `auth` only as JSON. */
const http = (how: string, settings: Kind['settings'] = {}): Kind => ({
  name: `Your own HTTP system, ${how}`,
  credentials: 'Your own system must answer the HTTP calls of the relay.',
  settings: { baseUrl: { label: 'Address', help: 'For example https://example.com/relay.' }, ...settings },
});
const httpKinds: Readonly<Record<string, Kind>> = {
  'http bearer': http('with a token', { token: { label: 'Token', secret: true } }),
  'http basic': http('with a password', { username: { label: 'User name' }, password: { label: 'Password', secret: true } }),
  'http none': http('without a token or password'),
};
const simulated = { settings: {}, credentials: "A simulator on the relay's machine answers in place of the real system." };
const removal =
  'If you choose Remove, the relay deletes the settings and the credentials. Steps that need this system then fail.';
const addressHelp = "The relay uses this address in place of the vendor's address, for example for a test system.";
const otherAddress: Setting = { label: 'Other address', help: addressHelp, optional: true };

type Stored = { kind?: string; auth?: { type: string }; baseUrl?: string; templates?: unknown };
export type SettingsProps = { company: StoredCompany; at: string; onSaved(company: StoredCompany): void };

/** The field of a setting. A stored secret is not shown, and stays if its field stays empty. */
function fieldOf(setting: Setting, before: unknown, problem: string | undefined) {
  const { label, help, secret, optional, pattern } = setting;
  const keeps = secret && before !== undefined && 'A value is already stored. Leave this field empty to keep it.';
  const example = pattern && !help?.includes(pattern.example) && `For example “${pattern.example}”.`;
  const hints = [help, example, optional && 'Optional.', keeps];
  const readOnly = setting === otherAddress && !isOperator();
  return {
    ...{ label, problem, readOnly, hint: hints.filter(Boolean).join(' '), required: !optional && !keeps, maxLength: 4096 },
    ...(secret
      ? ({ type: 'password', autocomplete: 'new-password' } as const)
      : { first: String(before ?? ''), autocomplete: 'off', spellcheck: false }),
  };
}

export function Connection({ section, company, at, onSaved }: SettingsProps & { section: 'platform' | 'ticketing' }) {
  const [chosen, found] = [useSignal<string | undefined>(undefined), useSignal<Checked | undefined>(undefined)];
  const [deed, checking, form] = [useDeed(), useDeed(), useForm()];
  const simulators = useCompany().simulators?.[section] ?? [];
  const { kind: known, auth = { type: 'none' }, ...stored }: Stored = company[section] ?? {};
  /** A connection without auth, at the address of a simulator, is the simulator. */
  const place = simulators.findIndex(({ settings: { kind, baseUrl } }) => kind === known && baseUrl === stored.baseUrl);
  const isSimulated = place >= 0 && auth.type === 'none' && stored.templates === undefined;
  const first = isSimulated ? `simulator ${place}` : known === 'http' ? `http ${auth.type}` : (known ?? '');
  const kinds: Readonly<Record<string, Kind>> = {
    '': { name: 'Not connected', credentials: first && removal, settings: {} },
    ...(known === 'http' && { [first]: http(`with ${auth.type} (set in “Edit the connections”)`) }),
    ...httpKinds,
    ...(section === 'platform' ? platformKinds : ticketingKinds),
    ...Object.fromEntries(simulators.map(({ name }, n) => [`simulator ${n}`, { ...simulated, name: `${name} (simulator)` }])),
  };
  const picked = chosen.value ?? first;
  const [kind = '', authType] = picked.split(' ');
  /** The stored settings of this kind. A new kind starts empty. */
  const before: Fields = picked === first ? { ...auth, ...stored } : {};
  const { settings = {}, credentials } = kinds[picked] ?? {};
  const hasOther = picked && !authType && (isOperator() || before.baseUrl !== undefined);
  const inputs = Object.entries<Setting>({ ...settings, ...(hasOther && { baseUrl: otherAddress }) });
  const name = partWords[section];
  const options = Object.entries(kinds).map(([kind, { name }]) => [kind, name] as const);
  const problemOf = (field: string, { secret }: Setting) =>
    deed.refused?.problem.errors?.find(({ pointer }) => [field, secret && 'auth'].includes(pointer.split('/').at(-1)))?.detail;
  const fields = inputs.map(([name, setting]) => [name, fieldOf(setting, before[name], problemOf(name, setting))]);
  const unseen = <span class="unseen"> {name}</span>;
  const change = async (connection: Fields | null, words: string) => {
    const changed = async () => onSaved(await ask<StoredCompany>('PATCH', at, { [section]: connection }));
    if (!(await deed.run(changed, words))) return;
    [chosen.value, found.value] = [undefined, undefined];
    form.saved();
    if (!connection) form.ref.current?.querySelector('select')?.focus(); // because the pressed button disappears
  };
  const save = (event: Event) => {
    const [changed, given] = [changedIn(event.currentTarget), fieldsOf(event)];
    const sent = inputs.filter(([name]) => before[name] === undefined || changed.has(name));
    const values = Object.fromEntries(sent.map(([name]) => [name, given[name] || null]));
    const simulator = kind === 'simulator' && simulators[Number(authType)];
    if (simulator) return change(simulator.settings, 'Saved');
    const { baseUrl, ...auth } = values;
    const ofHttp = { kind, baseUrl, auth: authType === 'none' ? null : { type: authType, ...auth } };
    return picked ? change(authType ? ofHttp : { kind, ...values }, 'Saved') : change(null, 'Removed');
  };
  const check = () =>
    checking.run(async () => {
      found.value = (await checkSettings(at, {})).find(({ part }) => part === section);
      announce(`${name}: ${found.value?.works ? 'works' : 'does not work'}`);
    });
  return (
    <Section title={name}>
      <form ref={form.ref} onSubmit={(event) => void save(event)}>
        <Select {...{ label: 'System', name: 'kind', options, first, onPick: (kind) => (chosen.value = kind) }} />
        <p class="soft">{credentials}</p>
        {before.templates !== undefined && (
          <p class="soft">
            The templates of the requests are in “Edit the connections”. Only the operator of the relay can change them.
          </p>
        )}
        <FormFields key={picked} of={Object.fromEntries(fields)} />
        {(picked || first) && (
          <Submit {...deed} words={[picked ? 'Save' : 'Remove', unseen]} danger={!picked}>
            {picked && picked === first && (
              <Button aria-disabled={checking.busy} onClick={() => void check()}>
                {[checking.busy ? 'Checking' : 'Check', unseen, checking.busy && '…']}
              </Button>
            )}
            {picked && picked === first && <span class="soft small">The check uses the saved settings. It changes nothing.</span>}
          </Submit>
        )}
      </form>
      <ProblemNote refused={checking.refused} />
      {found.value && <CheckedLine of={found.value} />}
    </Section>
  );
}

export function MoreSettings({ company, ...form }: SettingsProps) {
  return (
    <Section title="More settings">
      <p class="soft">
        {!isOperator() && 'Only the operator of the relay can change these settings. '}Passwords and keys are hidden on this page.
      </p>
      {(['mail', 'limits', 'webhookSecret'] as const).map((name) => (
        <section key={name}>
          <h3>{partWords[name]}</h3>
          {company[name] === undefined ? <p class="soft">the relay's standard</p> : <FieldList fields={factsIn(company[name])} />}
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
    mistake.value = objectMistake(text);
    const read = readObject(text);
    if (!read) return;
    const isChanged = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(read[name]);
    const names = Object.keys({ ...before, ...read }).filter(isChanged);
    const given = Object.fromEntries(names.map((name) => [name, read[name] ?? null]));
    await deed.run(async () => {
      const { name } = await ask<StoredCompany>('GET', at);
      onSaved(await ask<StoredCompany>('PUT', at, { ...given, name }));
      typed.value = undefined;
    }, 'Saved');
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <JsonArea
        label="Connections as JSON"
        hint="The sections are platform, ticketing, mail, limits and webhookSecret. To remove a section, delete it here. Leave *** to keep a stored secret."
        {...{ problem: mistake.value, rows: 14, value: text, onText: (text) => (typed.value = { text, before }) }}
      />
      <Submit {...deed} words="Save connections" />
    </form>
  );
}

/** The path and the text of each field, for example `auth.type` and `bearer`. */
function factsIn(value: unknown, at = ''): [field: string, text: unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[at, value]];
  return Object.entries(value).flatMap(([name, inner]) => factsIn(inner, at ? `${at}.${name}` : name));
}
