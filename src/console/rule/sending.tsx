/** Dialogs that run a rule: an event is sent again, or a test event is sent. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { ask, co, pageOf, useAnswer, useCompany } from '../base.js';
import { draftOf } from '../composer/draft.js';
import { inventedEvent } from '../composer/places.js';
import { objectMistake, readObject } from '../fields.js';
import type { AcceptedEvent, Composed, Contents, NotApplicableEvent } from '../types.js';
import { Choice, Deed, DeedButton, JsonArea } from '../ui/index.js';
import { counted, mistakeText } from '../words.js';

/** Opens the chain that the event has started, or the page of an event that has started nothing. */
function useSending(relayId: string) {
  const { route } = useLocation();
  return async (at: string, request: object) => {
    const sent = await ask<AcceptedEvent | NotApplicableEvent>('POST', at, request);
    route(sent.applies ? pageOf.chain(sent.chainId) : pageOf.event(relayId, sent.eventId));
  };
}

const refusedWords = 'The relay refuses this event. It does not keep a refused test event.';
const versions = Object.entries({ published: 'the published version', same: 'the version that already ran for this event' });
const again = {
  ...{ title: 'Send the event again?', verb: 'Send again', words: 'Sent again' },
  about: 'All steps of the rule run again. People may get a second message. The waiting time of each step begins again now.',
};

export function SendAgain({ at, relayId }: { at: string; relayId: string }) {
  const send = useSending(relayId);
  const version = useSignal('published');
  return (
    <DeedButton {...again} change={() => send(`${at}/resend`, { version: version.value, confirm: true })}>
      <Choice label="Version" of={version} options={versions} />
    </DeedButton>
  );
}

type TestEventProps = { at: string; relayId: string; contents: Contents; onClose(): void };

/** Begins with the last event, or with an invented event. @param at - the path of the rule's events. */
export function TestEvent({ at, relayId, contents, onClose }: TestEventProps) {
  const [send, typed, isFirst] = [useSending(relayId), useSignal<string | undefined>(undefined), useSignal(false)];
  const given = typed.value === undefined ? undefined : readObject(typed.value);
  const asked = { contents, relayId, event: given ?? (isFirst.value ? inventedEvent(draftOf(contents)) : undefined) };
  const { body, isOutdated } = useAnswer<Composed>('POST', co`/chains/compose`, asked, 500);
  const { event, eventId, actions = [], problems = [], reason } = body ?? {};
  if (body && !eventId) isFirst.value = true;
  const wait = useCompany().pauses.length > 0 ? ' Because of the pause, the steps may wait.' : '';
  const ids = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))].join(', ');
  const runs = `This test has real effects. “Send” runs ${counted(actions.length, 'step')}${ids && ` for assignment ${ids}`}.${wait}`;
  const found = problems.length > 0 ? [...problems.map((one) => mistakeText(one)), refusedWords].join(' ') : runs;
  const words = reason ? `The rule does not run for this event: ${reason}.` : found;
  const text = typed.value ?? (isOutdated ? '' : JSON.stringify(event, undefined, 2));
  const isBroken = typed.value !== undefined && !given;
  const sent = isBroken ? undefined : (given ?? event);
  return (
    <Deed title="Send a test event" verb="Send" words="Sent" change={() => send(at, { event: sent })} onClose={onClose}>
      <p class="note wait" role="status">
        {isBroken ? `${objectMistake(text)}.` : isOutdated ? 'Checking…' : words}
      </p>
      <JsonArea label="Event" rows={12} value={text} onText={(text) => (typed.value = text)} />
    </Deed>
  );
}
