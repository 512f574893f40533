/** The tokens of a rule, and the dialogs that make a token or the address with an event token. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ask, path } from '../base.js';
import type { Token } from '../types.js';
import { Choice, DeedButton, Lifetime, ShownOnce } from '../ui/index.js';

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
