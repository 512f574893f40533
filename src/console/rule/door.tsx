/** How events come to a rule: the address for the sender with its event token, and the settings of the door. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { doorRequest, EventDoor, EventSignature, eventTokensResponse } from '../../contract/rule-event.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Submit, useDeed } from '../ui/buttons.js';
import { DeedButton, ShownOnce } from '../ui/dialog.js';
import { Choice, Entry, fieldsOf, Select } from '../ui/fields.js';
import { Known } from '../ui/known.js';
import { graces } from './tokens.js';

/** @param at - the path of the rule in the API. */
export function Door({ at, relayId, onToken }: { at: string; relayId: string; onToken(): void }) {
  const door = useResource<EventDoor>(`${at}/door`, seldom);
  return (
    <>
      <Address {...{ at, relayId, onToken }} />
      <Known of={door}>{(known) => <DoorSettings door={known} at={at} onSaved={(saved) => (door.data.value = saved)} />}</Known>
    </>
  );
}

function Address({ at, relayId, onToken }: { at: string; relayId: string; onToken(): void }) {
  const { companyId } = useCompany();
  const made = useSignal<z.infer<typeof eventTokensResponse> | undefined>(undefined);
  const grace = useSignal('null');
  const make = async () => {
    made.value = await ask('POST', `${at}/event-tokens`, { graceSeconds: JSON.parse(grace.value) });
  };
  const address = location.origin + path`/co/${companyId}/events/${relayId}`;
  return (
    <section class="card" aria-labelledby="address">
      <h2 id="address">Address for your platform</h2>
      <p>Let your platform send its events, as they are, to an address that only works for the events of this rule:</p>
      <p class="row">
        <DeedButton opens="Make the address" title="Make the address" verb="Make" change={make} words="Address made.">
          <Choice
            label="Older addresses expire"
            hint="Your platform can use the older addresses until then."
            of={grace}
            options={graces.map(([seconds, words]) => [String(seconds), words])}
          />
        </DeedButton>
      </p>
      <p class="soft small">
        A sender that can set a header uses <code>{address}</code> with <code>Authorization: Bearer</code> and a token of this
        rule.
      </p>
      {made.value && (
        <ShownOnce
          title="The address for your platform"
          secret={made.value.url}
          onClose={() => {
            made.value = undefined;
            onToken();
          }}
        >
          <p>In the webhook settings of your platform, choose the method POST and this address:</p>
        </ShownOnce>
      )}
    </section>
  );
}

type Hmac = Omit<Extract<EventSignature, { scheme: 'hmac' }>, 'key' | 'scheme'>;
const usual: Hmac = { header: '', algorithm: 'sha256', encoding: 'hex', prefix: '', signed: 'body', keyForm: 'text' };
/** How senders sign their events. */
const senders: Record<string, Hmac> = {
  'Field Nation': { ...usual, header: 'x-fn-signature', prefix: 'sha256=' },
  Jira: { ...usual, header: 'x-hub-signature', prefix: 'sha256=' },
  Zendesk: {
    ...usual,
    header: 'x-zendesk-webhook-signature',
    encoding: 'base64',
    signed: 'timestamp-body',
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
  },
  'ConnectWise PSA': { ...usual, header: 'x-content-signature', encoding: 'base64', keyForm: 'sha256-of-text' },
  Jobber: { ...usual, header: 'x-jobber-hmac-sha256', encoding: 'base64' },
};

const standard = 'Standard Webhooks';

function DoorSettings({ door, at, onSaved }: { door: EventDoor; at: string; onSaved(door: EventDoor): void }) {
  const deed = useDeed();
  /** '' for none, otherwise `stored` or a sender. */
  const signer = useSignal(door.signature ? 'stored' : '');
  const save = (event: Event) => {
    const { dedupeBy, refuseLists, eventDays, key } = fieldsOf(event);
    const { [signer.value]: hmac } = senders;
    const signature = hmac ? { scheme: 'hmac', ...hmac, key } : { scheme: 'standard-webhooks', key };
    const request = {
      ...(signer.value !== 'stored' && { signature: signer.value === '' ? null : signature }),
      dedupeBy: dedupeBy || undefined,
      refuseLists: refuseLists === 'yes',
      eventDays: Number(eventDays),
    } as z.input<typeof doorRequest>;
    void deed.run(async () => {
      const saved = await ask<EventDoor>('PUT', `${at}/door`, request);
      onSaved(saved);
      signer.value = saved.signature ? 'stored' : '';
    }, 'Saved');
  };
  const { signature: stored } = door;
  const storedWords = stored?.scheme === 'hmac' ? `in the header ${stored.header}` : standard;
  return (
    <form class="card" onSubmit={save}>
      <h2>How events come in</h2>
      <Select
        label="Signature of the sender"
        hint="With a signature, an event needs no token. The API can set the signatures of other senders."
        value={signer.value}
        onPick={(picked) => (signer.value = picked)}
        options={[
          ['', 'none'],
          ...(stored ? [['stored', `as stored, ${storedWords}`] as const] : []),
          ...[standard, ...Object.keys(senders)].map((name) => [name, name] as const),
        ]}
      />
      {signer.value !== '' && signer.value !== 'stored' && (
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
        defaultValue={door.dedupeBy ?? ''}
        autocomplete="off"
        spellcheck={false}
      />
      <Select
        label="Lists of steps from webhooks"
        name="refuseLists"
        options={[
          ['no', 'run them, too'],
          ['yes', 'refuse them'],
        ]}
        first={door.refuseLists ? 'yes' : 'no'}
      />
      <Entry
        label="Days to keep events"
        hint="0 keeps none. Without events, you cannot try changes."
        name="eventDays"
        type="number"
        min={0}
        max={400}
        required
        defaultValue={String(door.eventDays)}
      />
      <Submit {...deed} words={['Save', <span class="unseen"> how events come in</span>]} />
    </form>
  );
}
