/** Decides about a refused request: a person sends the request again, edits it first, or drops it. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Fields, mergeFields } from '../chain/fields.js';
import type { Accepted } from '../contract/chain-resource.js';
import type { RejectedRequest } from '../contract/problem.js';
import { pageOf, path } from './addresses.js';
import { ask, Refused } from './api.js';
import { changesOf } from './fields.js';
import { FieldInputs } from './mend.js';
import { useCompany } from './session.js';
import { Button, useDeed } from './ui/buttons.js';
import { Confirm, DeedButton } from './ui/dialog.js';
import { ProblemNote } from './ui/known.js';
import { counted } from './words.js';

interface DecideProps {
  request: RejectedRequest;
  /** The indexes of the proposed actions that will not be sent. */
  leftOut: Signal<number[]>;
  onDecided(): void;
}

export function Decide({ request, leftOut, onDecided }: DecideProps) {
  const { proposal = [], body } = request;
  const actions = body ? proposal.map(({ element }) => element) : request.elements;
  const places = actions.flatMap((_, index) => (body && leftOut.value.includes(index) ? [] : [index]));
  const { companyId } = useCompany();
  const drop = (
    <DeedButton
      title="Drop the request?"
      verb="Drop"
      danger
      change={() => ask('POST', path`/co/${companyId}/rejected/${request.rejectedId}/drop`)}
      words="Request dropped."
      onDone={onDecided}
    >
      <p>The request will not run, and you cannot send it again. You can read the request for 30 days after its arrival.</p>
    </DeedButton>
  );
  if (places.length === 0) return <p class="row">{drop}</p>;
  return (
    <Resend request={request} actions={actions} places={places}>
      {drop}
    </Resend>
  );
}

interface ResendProps {
  request: RejectedRequest;
  actions: readonly Fields[];
  /** The indexes of the actions to send. */
  places: readonly number[];
  /** Other buttons in the same row. */
  children: ComponentChildren;
}

/** If the token is expired or revoked, or the signature is wrong, the user must first read and confirm the actions. */
function Resend({ request, actions, places, children }: ResendProps) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  const { reason, problem } = request;
  const isProposed = request.body !== undefined;
  const [isEditing, isDoubtful] = [useSignal(false), useSignal(false)];
  const texts = useMemo(() => actions.map(() => signal<Record<string, string>>({})), []);
  const deed = useDeed();
  const edited = (index: number) => changesOf(actions[index] ?? {}, texts[index]?.value ?? {});
  const changes = () =>
    Object.fromEntries(
      places.map((index) => [String(index), edited(index)] as const).filter(([, fields]) => Object.keys(fields).length > 0),
    );
  const leaveOut = actions.flatMap((_, index) => (places.includes(index) ? [] : [index]));
  const send = (confirm: boolean) =>
    deed.run(async () => {
      try {
        const at = path`/co/${companyId}/rejected/${request.rejectedId}/resend`;
        const asked = { confirm, actions: isEditing.value ? changes() : {}, ...(isProposed && { proposed: true, leaveOut }) };
        const { chainId } = await ask<Accepted>('POST', at, asked);
        route(pageOf.chain(companyId, chainId));
      } catch (error) {
        if (!(error instanceof Refused) || !error.is('not-confirmed')) throw error;
        isDoubtful.value = true;
      }
    });
  /** The actions to send, with the user's edits. */
  const meant = () => {
    const changed = isEditing.value ? changes() : {};
    return places.map((index) => mergeFields(actions[index] ?? {}, changed[String(index)] ?? {}));
  };
  const all = counted(actions.length, 'action');
  const ofAll = places.length < actions.length ? `${places.length} of ${all}` : all;
  const issues = deed.refused?.problem.errors ?? problem.errors ?? [];
  return (
    <>
      <p class="row">
        {reason !== 'invalid-chain' && (
          <Button class="main" aria-disabled={deed.busy} onClick={() => void send(false)}>
            {isProposed ? `Send as proposed (${ofAll})` : 'Send again'}
          </Button>
        )}
        <Button class={reason === 'invalid-chain' ? 'main' : ''} onClick={() => (isEditing.value = true)}>
          Edit and send…
        </Button>
        {children}
        <span class="soft small">The delays of the actions start when you send the request.</span>
      </p>
      {!isDoubtful.value && !isEditing.value && <ProblemNote refused={deed.refused} />}
      {isEditing.value && !isDoubtful.value && (
        <Confirm
          {...deed}
          title="Edit the request"
          verb={isProposed ? `Send (${ofAll})` : 'Send'}
          onClose={() => (isEditing.value = false)}
          onConfirm={() => void send(false)}
        >
          <p>You change only this request, not the webhook. If you empty a field, the relay removes the field.</p>
          {places.map((index) => {
            const [fields, written] = [actions[index], texts[index]];
            return (
              <fieldset key={index}>
                <legend>
                  {index} {String(fields?.action ?? '')}
                </legend>
                {fields && written && <FieldInputs fields={fields} texts={written} issues={issues} at={`/${index}`} />}
              </fieldset>
            );
          })}
        </Confirm>
      )}
      {isDoubtful.value && (
        <Confirm
          {...deed}
          title="Send these actions?"
          verb="Send these actions"
          onClose={() => (isDoubtful.value = false)}
          onConfirm={() => void send(true)}
        >
          <p>
            The token of this request is not valid any more, or the signature is wrong. Somebody else may have written these
            actions. Read each action before you send it.
          </p>
          <ul>
            {meant().map((element, index) => (
              <li key={index}>
                <code>{JSON.stringify(element)}</code>
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </>
  );
}
