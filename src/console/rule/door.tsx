/** How events come to a rule: the address for the sender, the settings of the door, and the tokens. */

import { useSignal } from '@preact/signals';
import { ask, co, path, seldom, useResource } from '../base.js';
import type { doorRequest, EventDoor, rotatedTokenResponse, Token, z } from '../types.js';
import { type FieldTable, FormFields, fieldsOf, Select } from '../ui/fields.js';
import { Badge, Cards, DeedButton, Known, Lifetime, SecretButton, Section, Submit, useDeed } from '../ui/index.js';

/** @param at - the path of the rule in the API. @param hasOlder - whether the rule has an address already. */
export function Door({ at, relayId, hasOlder }: { at: string; relayId: string; hasOlder: boolean }) {
  const door = useResource<EventDoor>(`${at}/door`, seldom);
  const change = async (given: Record<string, string>) =>
    (await ask<{ url: string }>('POST', `${at}/event-tokens`, seconds(given))).url;
  return (
    <>
      <Section id="address" title="Address for your platform">
        <p>
          {hasOlder
            ? 'This rule has an address. The relay cannot show it again, but you can create another one.'
            : 'Create an address for this rule only. Your platform sends its events to this address, in its own format.'}
        </p>
        <SecretButton {...{ ...addresses, fields: hasOlder ? olderAddresses : {}, change }} />
        <p class="soft small">
          For programmers: if the sender can set a header, send the events to{' '}
          <code>{location.origin + co`/events/${relayId}`}</code> with the header <code>Authorization: Bearer TOKEN</code>. In
          place of TOKEN, write a token of this rule.
        </p>
      </Section>
      <Known of={door}>
        {(known) => (
          <details class="card">
            <summary>How the rule accepts events (for programmers)</summary>
            <DoorSettings door={known} at={at} onSaved={(saved) => (door.data.value = saved)} />
          </details>
        )}
      </Known>
    </>
  );
}

const hmac = { scheme: 'hmac', algorithm: 'sha256' } as const;
/** The signature settings for known senders, without the key. Settings that are the API's defaults are left out. */
const senders = {
  'Standard Webhooks': { scheme: 'standard-webhooks' },
  'Field Nation': { ...hmac, header: 'x-fn-signature', prefix: 'sha256=' },
  Jira: { ...hmac, header: 'x-hub-signature', prefix: 'sha256=' },
  Zendesk: {
    ...({ ...hmac, header: 'x-zendesk-webhook-signature', encoding: 'base64', signed: 'timestamp-body' } as const),
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
  },
  'ConnectWise PSA': { ...hmac, header: 'x-content-signature', encoding: 'base64', keyForm: 'sha256-of-text' },
  Jobber: { ...hmac, header: 'x-jobber-hmac-sha256', encoding: 'base64' },
} as const;
type Sender = keyof typeof senders;

const keyField = {
  ...{ label: "The sender's key", hint: 'Your platform shows the key in the settings of the webhook.' },
  ...({ type: 'password', autocomplete: 'new-password', required: true } as const),
};
const inNumber = 'For example event.id. If two events have the same number, the relay ignores the second event.';
const listWays = Object.entries({ no: 'run the steps', yes: 'refuse the list of steps' });
const inDays = 'With 0, the relay keeps no events, so you cannot try a changed rule on past events.';
const days = { type: 'number', min: '0', max: '400', required: true } as const;

const fieldsOfDoor = ({ dedupeBy, refuseLists, eventDays }: EventDoor): FieldTable => ({
  dedupeBy: { label: 'Field with the event number', hint: inNumber, first: dedupeBy, autocomplete: 'off', spellcheck: false },
  refuseLists: { label: 'If a webhook sends a list of steps', options: listWays, first: refuseLists ? 'yes' : 'no' },
  eventDays: { label: 'Days to keep events', hint: inDays, first: String(eventDays), ...days },
});

function DoorSettings({ door, at, onSaved }: { door: EventDoor; at: string; onSaved(door: EventDoor): void }) {
  const deed = useDeed();
  const { signature: stored } = door;
  const signer = useSignal<'none' | 'stored' | Sender>(stored ? 'stored' : 'none');
  const { value: signed } = signer;
  const save = (event: Event) => {
    const { key = '', ...fields } = fieldsOf(event);
    const request: z.input<typeof doorRequest> = {
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
  const storedWords = stored?.scheme === 'hmac' ? `header ${stored.header}` : 'Standard Webhooks';
  return (
    <form onSubmit={save}>
      <Select
        label="Signature of the sender"
        hint="A signature proves who sent the event. If your platform is not in the list above, a programmer can set the signature with the API."
        value={signed}
        onPick={(picked) => (signer.value = picked as Sender)}
        options={[
          ['none', 'none'],
          ...(stored ? [['stored', `keep the stored signature (${storedWords})`] as const] : []),
          ...Object.keys(senders).map((name) => [name, name] as const),
        ]}
      />
      {signed in senders && <FormFields of={{ key: keyField }} />}
      <FormFields of={fieldsOfDoor(door)} />
      <Submit {...deed} words={['Save', <span class="unseen"> the event settings</span>]} />
    </form>
  );
}

const laterGraces = { 3600: 'after 1 hour', 86400: 'after 1 day', 604800: 'after 7 days' };
const graces = { null: 'when you revoke the older tokens', 0: 'immediately', ...laterGraces };

/** @param secrets - for example `tokens`. @param users - who uses the older secrets. */
const graceField = (secrets: string, users: string) => {
  const hint = `Until the older ${secrets} expire, ${users} can use them.`;
  return { grace: { label: `Older ${secrets} expire`, hint, options: Object.entries(graces), first: 'null' } };
};
const seconds = ({ grace = 'null' }: Record<string, string>) => ({ graceSeconds: JSON.parse(grace) });

const addresses = {
  ...{ opens: 'Create the address', verb: 'Create', words: 'Address created.', shown: 'The address for your platform' },
  about: 'The relay shows the address only once.',
  help: 'In the webhook settings of your platform, choose the method POST and enter this address:',
};
const olderAddresses = graceField('addresses', 'your platform');
const newTokens = {
  ...{ opens: 'Create a token', verb: 'Create', words: 'Token created.', shown: 'New token' },
  help: 'Copy this token into the webhooks of this rule, as the value of relayAccessToken:',
  fields: graceField('tokens', 'webhooks'),
};
const revoking = {
  ...{ title: 'Revoke the token?', verb: 'Revoke', danger: true, words: 'Token revoked.' },
  about: 'The relay keeps new requests with this token, but does not run them. You can send these requests again later.',
};

export function Tokens({ tokens, at }: { tokens: readonly Token[]; at: string }) {
  const change = async (given: Record<string, string>) =>
    (await ask<z.infer<typeof rotatedTokenResponse>>('POST', `${at}/tokens`, seconds(given))).relayAccessToken;
  return (
    <>
      <SecretButton {...newTokens} change={change} />
      <Cards of={tokens} id={({ tokenId }) => tokenId} empty="There are no tokens yet.">
        {(token) => (
          <>
            <code>{token.tokenId}</code> <Badge tone={token.state === 'active' ? 'good' : 'quiet'}>{token.state}</Badge>
            {token.purpose === 'event' && <Badge tone="quiet">used in the address for events</Badge>}
            <Lifetime of={token} />
            {token.state === 'active' && (
              <DeedButton
                {...{ ...revoking, unseen: `the token ${token.tokenId}` }}
                change={() => ask('DELETE', at + path`/tokens/${token.tokenId}`)}
              />
            )}
          </>
        )}
      </Cards>
    </>
  );
}
