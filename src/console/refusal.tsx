/** Decides about a refused request: a person sends the request again, edits it first, or drops it. */

import { type Signal, signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Fields, fieldText, mergeFields, movedFields } from '../chain/fields.js';
import { missingPlaces, valuesByPlace, withPlaces } from '../chain/places.js';
import { announce, ask, co, pageOf, Refused } from './base.js';
import { changesOf, readObject, shownFields } from './fields.js';
import type { Accepted, RejectedRequest } from './types.js';
import { Button, Check, Confirm, DeedButton, FieldList, ProblemNote, useDeed } from './ui/index.js';
import { FieldInputs } from './verbs.js';
import { counted, elementTitle, fieldWords, stepsText } from './words.js';

/** `leftOut`: the indexes of the proposed actions that the user does not send. */
type DecideProps = { request: RejectedRequest; leftOut: readonly number[] };

const dropping = {
  ...{ title: 'Drop the request?', verb: 'Drop', danger: true, words: 'Request dropped.' },
  about: 'The request will not run, and you cannot send it again. You can read the request for 30 days after its arrival.',
};

const asking = (what: string) => ({ title: `Send ${what}?`, verb: `Send ${what}` });
const proposed = 'The relay starts a chain now. You cannot undo this.';
const doubtful =
  'The token is not valid any more, or the signature is missing or wrong. Did your platform really send this? Check each value.';

/** If the token is expired or revoked, or the signature is wrong, the user must first read and confirm the actions. */
export function Decide({ request, leftOut }: DecideProps) {
  const { route } = useLocation();
  const { rejectedId, reason, problem, proposal = [], body, elements } = request;
  const at = co`/rejected/${rejectedId}`;
  const isEvent = body?.isEvent === true;
  /** A readable event without a proposal is sent as it came, unless the user edits it. */
  const whole = isEvent && proposal.length === 0 && !body.cut ? readObject(body.text) : undefined;
  const missing = isEvent ? missingPlaces(problem.errors) : [];
  const withId = (fields: Fields) => (isEvent ? valuesByPlace(fields) : { platformAssignmentId: '', ...fields });
  const all = (whole ? [whole] : body ? proposal.map(({ element }) => element) : elements).map(withId);
  const sent = all.flatMap((fields, index) => (body && leftOut.includes(index) ? [] : [{ index, fields }]));
  const [isEditing, isAsking, isDoubtful] = [useSignal(false), useSignal(false), useSignal(false)];
  /** The edited texts of each action. */
  const texts = useMemo(() => all.map(() => signal<Record<string, string>>({})), []);
  const deed = useDeed();
  const typedIn = (index: number, fields: Fields) => (isEditing.value ? changesOf(fields, texts[index]?.value ?? {}) : {});
  const areAll = useSignal(true);
  const [moved] = sent.flatMap(({ index, fields }) => {
    const [from, to] = [fieldText(fields.platformAssignmentId), typedIn(index, fields).platformAssignmentId];
    return !isEvent && from && typeof to === 'string' ? { from, to } : [];
  });
  /** The edits of an action, with a new assignment number also in its texts. */
  const editsOf = (index: number, fields: Fields) => ({
    ...(moved && areAll.value && movedFields(fields, moved)),
    ...typedIn(index, fields),
  });
  const send = (confirm: boolean) =>
    deed.run(async () => {
      const edits = sent.map(({ index, fields }) => [String(index), editsOf(index, fields)] as const);
      const actions = Object.fromEntries(edits.filter(([, changed]) => Object.keys(changed).length > 0));
      const ofList = { confirm, actions, ...(body && { proposed: true, leaveOut: leftOut }) };
      const event = whole && !actions[0] ? undefined : withPlaces(whole ?? proposal[0]?.element ?? {}, actions[0] ?? {});
      const asked = isEvent ? { confirm, event } : ofList;
      try {
        const { chainId } = await ask<Partial<Accepted>>('POST', `${at}/resend`, asked);
        if (chainId) route(pageOf.chain(chainId));
        else announce('No chain was started: the rule does not run for this event.');
      } catch (error) {
        if (!(error instanceof Refused) || !error.is('not-confirmed')) throw error;
        [isDoubtful.value, isAsking.value] = [true, true];
      }
    });
  const chosen = sent.length < all.length ? `only ${stepsText(sent.map(({ index }) => index))}` : counted(all.length, 'step');
  const begin = () => {
    if (body && !whole) isAsking.value = true;
    else void send(false);
  };
  const isInvalid = reason === 'invalid-chain';
  const flaws = proposal.flatMap(({ problems = [] }, index) => (leftOut.includes(index) ? [] : problems));
  const isEditFirst = isInvalid || missing.length > 0 || flaws.length > 0;
  const edit = <Button {...{ class: isEditFirst ? 'main' : '', onClick: () => (isEditing.value = true) }}>Edit and send…</Button>;
  const drop = <DeedButton {...dropping} change={() => ask('POST', `${at}/drop`)} />;
  const { errors = [] } = deed.refused?.problem ?? { errors: [...flaws, ...(problem.errors ?? [])] };
  const inEvent = missingPlaces(errors).map((path) => ({ pointer: `/0/${path}`, detail: 'is missing' }));
  if (sent.length === 0) return <p class="row">{drop}</p>;
  return (
    <>
      {missing.length > 0 && <p>Write the missing value with “Edit and send”. Or correct the rule, then choose “Send again”.</p>}
      <p class="row">
        {isEditFirst && edit}
        {!isInvalid && (
          <Button class={isEditFirst ? '' : 'main'} aria-disabled={deed.busy} onClick={begin}>
            {!body || whole ? 'Send again' : isEvent ? 'Send the proposed event' : `Send ${chosen}`}
          </Button>
        )}
        {!isEditFirst && edit}
        {drop}
        <span class="soft small">A step “after 30 minutes” runs 30 minutes after you send the request.</span>
      </p>
      {!isAsking.value && !isEditing.value && <ProblemNote refused={deed.refused} />}
      {isEditing.value && !isAsking.value && (
        <Confirm
          {...deed}
          title="Edit the request"
          verb={body && !isEvent ? `Send ${chosen}` : 'Send'}
          about="You change only this request, not the webhook."
          onClose={() => (isEditing.value = false)}
          onConfirm={() => void send(false)}
        >
          {sent.map(({ index, fields }) => (
            <fieldset key={index}>
              <legend>{elementTitle({ ...fields, ...typedIn(index, fields) }, index)}</legend>
              <FieldInputs
                {...{ fields, at: `/${index}`, issues: isEvent ? inEvent : errors, words: isEvent ? {} : fieldWords }}
                texts={texts[index] as Signal<Record<string, string>>}
              />
            </fieldset>
          ))}
          {moved && (
            <Check checked={areAll.value} onCheck={(isChecked) => (areAll.value = isChecked)}>
              Also write {moved.to} in place of {moved.from} in the other steps, and in all texts.
            </Check>
          )}
        </Confirm>
      )}
      {isAsking.value && (
        <Confirm
          {...{ ...deed, ...asking(isEvent ? 'this event' : 'these steps'), about: isDoubtful.value ? doubtful : proposed }}
          onClose={() => (isAsking.value = false)}
          onConfirm={() => void send(isDoubtful.value)}
        >
          {sent.map(({ index, fields: { action, ...fields } }) => (
            <section key={index}>
              <h3>{elementTitle({ action }, index)}</h3>
              <FieldList fields={shownFields(mergeFields(fields, editsOf(index, fields)))} />
            </section>
          ))}
        </Confirm>
      )}
    </>
  );
}
