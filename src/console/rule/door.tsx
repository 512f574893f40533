/** How events come to a rule: the address for the sender with its event token, and the settings of the door. */

import { useSignal } from '@preact/signals';
import { ask, path, seldom, useCompany, useResource } from '../base.js';
import type { doorRequest, EventDoor, z } from '../types.js';
import { Entry, fieldsOf, Known, Select, Submit, useDeed } from '../ui/index.js';
import { MakeSecret } from './tokens.js';

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
