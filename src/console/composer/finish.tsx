/** The last part of the composer: the address for the sender, or the body to paste, and the last chain of the rule. */

import { useSignal } from '@preact/signals';
import { admin, ask, co, pageOf, type Refused } from '../base.js';
import { Week } from '../rule/week.js';
import type { rotatedTokenResponse, z } from '../types.js';
import { Button, Copy, Entry, JsonArea, ProblemNote, Section, useDeed } from '../ui/index.js';
import { counted, labelled } from '../words.js';
import { listOf } from './draft.js';
import { useKnowledge } from './knowledge.js';

/** @param refused - why the steps could not be checked. */
export function Finish({ refused }: { refused: Refused | undefined }) {
  const { relayId, way } = useKnowledge();
  const make = <a href={`${pageOf.rule(relayId)}#address`}>create one on the page of the rule</a>;
  const connect = <p>Publish the rule. Your platform sends its events to an address. If you have no address yet, {make}.</p>;
  return (
    <Section title={way === 'list' ? 'Copy the list to the webhook' : 'Connect your platform'} look="">
      {way === 'list' ? <AsList refused={refused} /> : connect}
    </Section>
  );
}

function AsList({ refused }: { refused: Refused | undefined }) {
  const { relayId, draft, problems } = useKnowledge();
  const [token, isNew] = [useSignal(''), useSignal(false)];
  const making = useDeed();
  if (draft.when || draft.cards.some(({ fields }) => fields.if !== undefined))
    return (
      <p class="note bad">
        A list of steps cannot have all conditions of this rule. In a list, only steps have conditions: one for each step, about
        the assignment, with “is” or “is not”. To change the conditions, choose “The whole event” above.
      </p>
    );
  if (refused) return <p class="note bad">The relay could not check the steps: {labelled(refused.problem.detail)}</p>;
  if (problems.length > 0)
    return <p class="note bad">The relay would refuse these steps, because they have {counted(problems.length, 'mistake')}.</p>;
  const given = token.value.trim();
  const body = JSON.stringify(listOf(draft.cards, relayId, given || undefined), undefined, 2);
  const make = () =>
    making.run(async () => {
      const at = admin`/rules/${relayId}/tokens`;
      const made = await ask<z.infer<typeof rotatedTokenResponse>>('POST', at, { graceSeconds: null });
      [token.value, isNew.value] = [made.relayAccessToken, true];
    }, 'Token created');
  return (
    <>
      <ol>
        <li>
          In the settings of the webhook, choose the method POST. Set the address to <code>{location.origin + co`/relay`}</code>{' '}
          and the header to <code>Content-Type: application/json</code>.
        </li>
        <li>
          The text below needs a token of this rule.
          {isNew.value ? (
            <p class="note wait">
              The new token is in the text below. Copy the text now: the page cannot show this token again. Older tokens stay
              valid.
            </p>
          ) : (
            <>
              <p class="row">
                <Button {...{ class: given ? '' : 'main', 'aria-disabled': making.busy, onClick: make }}>Create a token</Button>
              </p>
              <ProblemNote refused={making.refused} />
              <Entry
                {...{ label: 'Or enter a token that you saved earlier', of: token, maxLength: 512 }}
                {...{ autocomplete: 'off', spellcheck: false }}
              />
            </>
          )}
        </li>
        <li>
          <JsonArea label="Paste this as the body of the webhook" rows={12} readOnly value={body} />
          {!given && <p class="note wait">This text is not complete: the token is missing.</p>}
          <p class="row">{given && <Copy text={body} words="Copy the body" />}</p>
        </li>
        <li>Send a test event from your platform. Its chain is shown below a few seconds later.</li>
      </ol>
      <Week relayId={relayId} isWatched />
    </>
  );
}
