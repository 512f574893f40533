/** The tokens of a rule. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { rotatedTokenResponse, Token } from '../../contract/credential.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { DeedButton, ShownOnce } from '../ui/dialog.js';
import { Choice } from '../ui/fields.js';
import { Lifetime } from '../ui/text.js';

export const graces: [seconds: number | null, words: string][] = [
  [null, 'when you revoke them'],
  [0, 'immediately'],
  [3600, 'after 1 hour'],
  [86_400, 'after 1 day'],
  [604_800, 'after 7 days'],
];

export function Tokens({ tokens, at, onChanged }: { tokens: readonly Token[]; at: string; onChanged(): void }) {
  const made = useSignal<z.infer<typeof rotatedTokenResponse> | undefined>(undefined);
  const grace = useSignal('null');
  const rotate = async () => {
    made.value = await ask('POST', `${at}/tokens`, { graceSeconds: JSON.parse(grace.value) });
  };
  return (
    <>
      <p>
        <DeedButton opens="Create a token" title="Create a token" verb="Create" change={rotate} words="Token created.">
          <Choice
            label="Older tokens expire"
            hint="Webhooks can use the older tokens until then."
            of={grace}
            options={graces.map(([seconds, words]) => [String(seconds), words])}
          />
        </DeedButton>
      </p>
      <ul class="plain cards">
        {tokens.map((token) => (
          <li key={token.tokenId} class="card">
            <code>{token.tokenId}</code> <span class={`badge ${token.state === 'active' ? 'good' : 'quiet'}`}>{token.state}</span>
            {token.purpose === 'event' && <span class="badge quiet">address for events</span>}
            <Lifetime of={token} />
            {token.state === 'active' && (
              <p>
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
              </p>
            )}
          </li>
        ))}
      </ul>
      {made.value && (
        <ShownOnce
          title="New token"
          secret={made.value.relayAccessToken}
          onClose={() => {
            made.value = undefined;
            onChanged();
          }}
        >
          <p>
            Copy this token into the webhooks of this rule, as the value of <code>relayAccessToken</code>:
          </p>
        </ShownOnce>
      )}
    </>
  );
}
