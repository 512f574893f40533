/** One rule: its chains of the last week, and its policy, contacts and tokens. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import type { ChainCounts, ChainList } from '../../contract/chain-resource.js';
import type { rotatedTokenResponse, Token, tokensResponse } from '../../contract/credential.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import type { ruleSchema } from '../../contract/rule.js';
import { pageOf, path, query } from '../addresses.js';
import { ask } from '../api.js';
import { changedIn, only, useForm } from '../form.js';
import { Page } from '../frame.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import {
  Button,
  Choice,
  Deed,
  DeedButton,
  Entry,
  fieldsOf,
  Known,
  Lifetime,
  Select,
  ShownOnce,
  State,
  Submit,
  Time,
  useDeed,
} from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { ruleName, useCompany } from '../session.js';
import { newestOf, sinceTime } from '../when.js';
import { aboutChain, refusalWords } from '../words.js';
import { onFailureWords, onUnknownWords } from './rules.js';

type Rule = z.infer<typeof ruleSchema>;

export function RulePage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const at = path`/admin/companies/${companyId}/rules/${relayId}`;
  const rule = useResource<Rule>(at, seldom);
  const tokens = useResource<z.infer<typeof tokensResponse>>(`${at}/tokens`, seldom);
  const saved = (stored: Rule) => {
    rule.data.value = stored;
    company.refresh();
  };
  return (
    <Page
      title={`Rule ${ruleName(company, relayId)}`}
      about={
        <>
          <a href={pageOf.rules(companyId)}>All rules</a> ·{' '}
          <a href={pageOf.chains(companyId, { relayId })}>Chains of this rule</a> ·{' '}
          <a href={pageOf.compose(companyId, relayId)}>Compose a chain</a>
        </>
      }
    >
      <Week relayId={relayId} />
      <Known of={rule}>{(known) => <Policy rule={known} at={at} onSaved={saved} />}</Known>
      <h2>Tokens</h2>
      <Known of={tokens}>{({ tokens: known }) => <Tokens tokens={known} at={at} onChanged={tokens.refresh} />}</Known>
    </Page>
  );
}

function Week({ relayId }: { relayId: string }) {
  const { companyId } = useCompany();
  // Rounded to the hour, so that repeated requests have the same address.
  const since = sinceTime('7d', Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query({ relayId, since }), seldom);
  const chains = (since: string | undefined) => path`/co/${companyId}/chains` + query({ relayId, since, limit: '50' });
  const last = useResource<ChainList>(chains(since), seldom);
  // The list shows open chains first, so a closed chain on the second page can be newer than all chains on the first page.
  const { items: first = [], nextCursor } = last.data.value ?? {};
  const later = useResource<ChainList>(nextCursor && chains(newestOf(first)?.receivedAt), seldom);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected?limit=100`, seldom);
  const rest = nextCursor ? later.data.value?.items : [];
  const newest = rest && newestOf([...first, ...rest]);
  const refusal = refused.data.value?.items.find(({ relayIds }) => relayIds.includes(relayId));
  return (
    <section class="card" aria-labelledby="week">
      <h2 id="week">The last 7 days</h2>
      <Known of={counts}>
        {(known) => (
          <p class="row">
            {chainStatuses
              .filter((status) => known[status] > 0)
              .map((status) => (
                <a key={status} href={pageOf.chains(companyId, { relayId, status, since: '7d' })}>
                  {known[status]} <State of={status} />
                </a>
              ))}
            {chainStatuses.every((status) => known[status] === 0) && 'No event arrived.'}
          </p>
        )}
      </Known>
      {newest && (
        <p>
          Last event: <a href={pageOf.chain(companyId, newest.chainId)}>{aboutChain(newest)}</a>,{' '}
          <Time at={newest.receivedAt} distance />
        </p>
      )}
      {refusal && (
        <p class="error">
          Last refused request: <a href={pageOf.refusal(companyId, refusal.rejectedId)}>{refusalWords[refusal.reason]}</a>,{' '}
          <Time at={refusal.receivedAt} distance />
        </p>
      )}
    </section>
  );
}

function Policy({ rule, at, onSaved }: { rule: Rule; at: string; onSaved(rule: Rule): void }) {
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

const graces: [seconds: number | null, words: string][] = [
  [null, 'when you revoke them'],
  [0, 'immediately'],
  [3600, 'after 1 hour'],
  [86_400, 'after 1 day'],
  [604_800, 'after 7 days'],
];

function Tokens({ tokens, at, onChanged }: { tokens: readonly Token[]; at: string; onChanged(): void }) {
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
