/** How events come to a rule: the address for the sender, the settings of the door, and the tokens. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ask, path, seldom, useCompany, useResource } from '../base.js';
import type { doorRequest, EventDoor, Token, z } from '../types.js';
import { Choice, DeedButton, Entry, fieldsOf, Known, Lifetime, Select, ShownOnce, Submit, useDeed } from '../ui/index.js';

/** @param at - the path of the rule in the API. */
export function Door({ at, relayId, onToken }: { at: string; relayId: string; onToken(): void }) {
  const { companyId } = useCompany();
  const door = useResource<EventDoor>(`${at}/door`, seldom);
  return (
    <>
      <section class="card" aria-labelledby="address">
        <h2 id="address">Address for your platform</h2>
        <p>Your platform can send its events unchanged to this address. The address works only for the events of this rule:</p>
        <p class="row">
          <MakeSecret
            {...{ opens: 'Make the address', verb: 'Make', noun: 'addresses', users: 'Your platform' }}
            title="The address for your platform"
            path={`${at}/event-tokens`}
            field="url"
            onMade={onToken}
          >
            <p>In the webhook settings of your platform, choose the method POST and this address:</p>
          </MakeSecret>
        </p>
        <p class="soft small">
          A sender that can set a header uses <code>{location.origin + path`/co/${companyId}/events/${relayId}`}</code> with{' '}
          <code>Authorization: Bearer</code> and a token of this rule.
        </p>
      </section>
      <Known of={door}>
        {(known) => (
          <details class="card">
            <summary>How events come in</summary>
            <DoorSettings door={known} at={at} onSaved={(saved) => (door.data.value = saved)} />
          </details>
        )}
      </Known>
    </>
  );
}

type DoorRequest = z.input<typeof doorRequest>;

const hmac = { scheme: 'hmac', algorithm: 'sha256' } as const;
/** How senders sign their events, without the key. The defaults of the API are left out. */
const senders = {
  'Standard Webhooks': { scheme: 'standard-webhooks' },
  'Field Nation': { ...hmac, header: 'x-fn-signature', prefix: 'sha256=' },
  Jira: { ...hmac, header: 'x-hub-signature', prefix: 'sha256=' },
  Zendesk: {
    ...hmac,
    header: 'x-zendesk-webhook-signature',
    encoding: 'base64',
    signed: 'timestamp-body',
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
  },
  'ConnectWise PSA': { ...hmac, header: 'x-content-signature', encoding: 'base64', keyForm: 'sha256-of-text' },
  Jobber: { ...hmac, header: 'x-jobber-hmac-sha256', encoding: 'base64' },
} as const;
type Sender = keyof typeof senders;

function DoorSettings({ door, at, onSaved }: { door: EventDoor; at: string; onSaved(door: EventDoor): void }) {
  const deed = useDeed();
  const { signature: stored, dedupeBy = '', refuseLists, eventDays } = door;
  const signer = useSignal<'none' | 'stored' | Sender>(stored ? 'stored' : 'none');
  const { value: signed } = signer;
  const save = (event: Event) => {
    const { key = '', ...fields } = fieldsOf(event);
    const request: DoorRequest = {
      ...(signed !== 'stored' && { signature: signed === 'none' ? null : { ...senders[signed], key } }),
      dedupeBy: fields.dedupeBy || undefined,
      refuseLists: fields.refuseLists === 'yes',
      eventDays: Number(fields.eventDays),
    };
    void deed.run(async () => {
      const saved = await ask<EventDoor>('PUT', `${at}/door`, request);
      onSaved(saved);
      signer.value = saved.signature ? 'stored' : 'none';
    }, 'Saved');
  };
  const storedWords = stored?.scheme === 'hmac' ? `in the header ${stored.header}` : 'Standard Webhooks';
  return (
    <form onSubmit={save}>
      <Select
        label="Signature of the sender"
        hint="With a signature, an event needs no token. The API can set the signatures of other senders."
        value={signed}
        onPick={(picked) => (signer.value = picked as Sender)}
        options={[
          ['none', 'none'],
          ...(stored ? [['stored', `as stored, ${storedWords}`] as const] : []),
          ...Object.keys(senders).map((name) => [name, name] as const),
        ]}
      />
      {signed in senders && (
        <Entry
          label="Key of the sender"
          hint="Your platform shows the key beside the webhook."
          name="key"
          type="password"
          autocomplete="new-password"
          required
        />
      )}
      <Entry
        label="Place of the event's own number"
        hint="For example event.id. A second event with the same number runs nothing."
        name="dedupeBy"
        defaultValue={dedupeBy}
        autocomplete="off"
        spellcheck={false}
      />
      <Select
        label="Lists of steps from webhooks"
        name="refuseLists"
        options={Object.entries({ no: 'run them, too', yes: 'refuse them' })}
        first={refuseLists ? 'yes' : 'no'}
      />
      <Entry
        label="Days to keep events"
        hint="0 keeps none. Without events, you cannot try changes."
        name="eventDays"
        type="number"
        min={0}
        max={400}
        required
        defaultValue={String(eventDays)}
      />
      <Submit {...deed} words={['Save', <span class="unseen"> how events come in</span>]} />
    </form>
  );
}

const graces = {
  null: 'when you revoke them',
  0: 'immediately',
  3600: 'after 1 hour',
  86400: 'after 1 day',
  604800: 'after 7 days',
};

interface MakeSecretProps {
  opens: string;
  verb: string;
  /** For example `tokens`, in the labels. */
  noun: string;
  /** Who uses the older secrets. */
  users: string;
  path: string;
  /** The field of the answer with the secret. */
  field: string;
  title: string;
  /** What to do with the secret. */
  children: ComponentChildren;
  onMade(): void;
}

/** Makes a secret beside older ones, which expire, and shows it once. */
export function MakeSecret({ opens, verb, noun, users, path, field, title, children, onMade }: MakeSecretProps) {
  const [made, grace] = [useSignal<string | undefined>(undefined), useSignal('null')];
  const make = async () => {
    const answer = await ask<Record<string, string>>('POST', path, { graceSeconds: JSON.parse(grace.value) });
    made.value = answer[field];
  };
  const close = () => {
    made.value = undefined;
    onMade();
  };
  return (
    <>
      <DeedButton opens={opens} title={opens} verb={verb} change={make} words={`${title}: done`}>
        <Choice
          label={`Older ${noun} expire`}
          hint={`${users} can use the older ${noun} until then.`}
          of={grace}
          options={Object.entries(graces)}
        />
      </DeedButton>
      {made.value && (
        <ShownOnce title={title} secret={made.value} onClose={close}>
          {children}
        </ShownOnce>
      )}
    </>
  );
}

export function Tokens({ tokens, at, onChanged }: { tokens: readonly Token[]; at: string; onChanged(): void }) {
  return (
    <>
      <p>
        <MakeSecret
          {...{ opens: 'Create a token', verb: 'Create', noun: 'tokens', users: 'Webhooks', title: 'New token' }}
          path={`${at}/tokens`}
          field="relayAccessToken"
          onMade={onChanged}
        >
          <p>
            Copy this token into the webhooks of this rule, as the value of <code>relayAccessToken</code>:
          </p>
        </MakeSecret>
      </p>
      <ul class="plain cards">
        {tokens.map((token) => (
          <li key={token.tokenId} class="card">
            <code>{token.tokenId}</code> <span class={`badge ${token.state === 'active' ? 'good' : 'quiet'}`}>{token.state}</span>
            {token.purpose === 'event' && <span class="badge quiet">address for events</span>}
            <Lifetime of={token} />
            {token.state === 'active' && (
              <DeedButton
                unseen={token.tokenId}
                title="Revoke the token?"
                verb="Revoke"
                danger
                change={() => ask('DELETE', at + path`/tokens/${token.tokenId}`)}
                words="Token revoked."
                onDone={onChanged}
              >
                <p>The relay will refuse requests with this token. It keeps these requests, and you can send them later.</p>
              </DeedButton>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
