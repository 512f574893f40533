/** Decides about a refused request: a person sends the request again, edits it first, or drops it. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Fields, mergeFields } from '../chain/fields.js';
import { ask, pageOf, path, Refused, useCompany } from './base.js';
import { changesOf } from './fields.js';
import type { Accepted, RejectedRequest } from './types.js';
import { Button, Confirm, DeedButton, ProblemNote, useDeed } from './ui/index.js';
import { FieldInputs } from './verbs.js';
import { counted } from './words.js';

/** `leftOut`: the indexes of the proposed actions that the user does not send. */
type DecideProps = { request: RejectedRequest; leftOut: readonly number[]; onDecided(): void };

const dropping = {
  ...{ title: 'Drop the request?', verb: 'Drop', danger: true, words: 'Request dropped.' },
  about: 'The request will not run, and you cannot send it again. You can read the request for 30 days after its arrival.',
};

export function Decide({ request, leftOut, onDecided }: DecideProps) {
  const { companyId } = useCompany();
  const { proposal = [], body, elements } = request;
  const actions = body ? proposal.map(({ element }) => element) : elements;
  const sent = actions.flatMap((fields, index) => (body && leftOut.includes(index) ? [] : [{ index, fields }]));
  const drop = (
    <DeedButton
      {...dropping}
      onDone={onDecided}
      change={() => ask('POST', path`/co/${companyId}/rejected/${request.rejectedId}/drop`)}
    />
  );
  if (sent.length === 0) return <p class="row">{drop}</p>;
  return <Resend {...{ request, sent }} count={actions.length} other={drop} />;
}

const doubtful = {
  ...{ title: 'Send these actions?', verb: 'Send these actions' },
  about:
    'The token of this request is not valid any more, or the signature is wrong. Somebody else may have written these actions. ' +
    'Read each action before you send it.',
};

interface ResendProps extends Pick<DecideProps, 'request'> {
  /** The number of all actions, including the omitted actions. */
  count: number;
  sent: readonly { index: number; fields: Fields }[];
  /** Another button in the same row. */
  other: ComponentChildren;
}

/** If the token is expired or revoked, or the signature is wrong, the user must first read and confirm the actions. */
function Resend({ request: { rejectedId, reason, problem, body }, count, sent, other }: ResendProps) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  const [isEditing, isDoubtful] = [useSignal(false), useSignal(false)];
  /** The edited texts of each action. */
  const texts = useMemo(() => Array.from({ length: count }, () => signal<Record<string, string>>({})), []);
  const deed = useDeed();
  const editsOf = (index: number, fields: Fields) => (isEditing.value ? changesOf(fields, texts[index]?.value ?? {}) : {});
  const send = (confirm: boolean) =>
    deed.run(async () => {
      const edits = sent.map(({ index, fields }) => [String(index), editsOf(index, fields)] as const);
      const actions = Object.fromEntries(edits.filter(([, changed]) => Object.keys(changed).length > 0));
      const leaveOut = texts.flatMap((_, place) => (sent.some(({ index }) => index === place) ? [] : [place]));
      const asked = { confirm, actions, ...(body && { proposed: true, leaveOut }) };
      try {
        const { chainId } = await ask<Accepted>('POST', path`/co/${companyId}/rejected/${rejectedId}/resend`, asked);
        route(pageOf.chain(companyId, chainId));
      } catch (error) {
        if (!(error instanceof Refused) || !error.is('not-confirmed')) throw error;
        isDoubtful.value = true;
      }
    });
  const ofAll = `${sent.length < count ? `${sent.length} of ` : ''}${counted(count, 'action')}`;
  const isInvalid = reason === 'invalid-chain';
  return (
    <>
      <p class="row">
        {!isInvalid && (
          <Button class="main" aria-disabled={deed.busy} onClick={() => void send(false)}>
            {body ? `Send as proposed (${ofAll})` : 'Send again'}
          </Button>
        )}
        <Button {...{ class: isInvalid ? 'main' : '', onClick: () => (isEditing.value = true) }}>Edit and send…</Button>
        {other}
        <span class="soft small">The delays of the actions start when you send the request.</span>
      </p>
      {!isDoubtful.value && !isEditing.value && <ProblemNote refused={deed.refused} />}
      {isEditing.value && !isDoubtful.value && (
        <Confirm
          {...deed}
          title="Edit the request"
          verb={body ? `Send (${ofAll})` : 'Send'}
          about="You change only this request, not the webhook. If you empty a field, the relay removes the field."
          onClose={() => (isEditing.value = false)}
          onConfirm={() => void send(false)}
        >
          {sent.map(({ index, fields }) => (
            <fieldset key={index}>
              <legend>{`${index} ${fields.action ?? ''}`}</legend>
              <FieldInputs
                {...{ fields, at: `/${index}`, issues: deed.refused?.problem.errors ?? problem.errors ?? [] }}
                texts={texts[index] as Signal<Record<string, string>>}
              />
            </fieldset>
          ))}
        </Confirm>
      )}
      {isDoubtful.value && (
        <Confirm {...{ ...deed, ...doubtful }} onClose={() => (isDoubtful.value = false)} onConfirm={() => void send(true)}>
          {sent.map(({ index, fields }) => (
            <pre key={index}>{JSON.stringify(mergeFields(fields, editsOf(index, fields)))}</pre>
          ))}
        </Confirm>
      )}
    </>
  );
}
