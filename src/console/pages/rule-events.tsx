/** The events of a rule with their results, and the page of one event. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { ask, may, pageOf, path, query, seldom, useAnswer, useCompany, usePages, useResource } from '../base.js';
import { draftOf } from '../composer/draft.js';
import { inSteps, mistakeText, variableWords } from '../composer/knowledge.js';
import { inventedEvent } from '../composer/places.js';
import { triedWords } from '../composer/tried.js';
import { readObject } from '../fields.js';
import { PageOf } from '../frame.js';
import type {
  AcceptedEvent,
  Composed,
  Contents,
  EventOutcome,
  eventsResponse,
  NotApplicableEvent,
  RuleEvent,
  wholeEventSchema,
  z,
} from '../types.js';
import {
  Badge,
  Choice,
  Deed,
  DeedButton,
  ExportLinks,
  Fact,
  FieldList,
  JsonArea,
  Moment,
  Said,
  Table,
  Time,
} from '../ui/index.js';
import { counted, type Tone } from '../words.js';

const outcomeWords: Record<EventOutcome, [words: string, tone: Tone]> = {
  chain: ['started a chain', 'good'],
  'not-applicable': ['the rule does not apply', 'quiet'],
  refused: ['refused', 'bad'],
};

const outcomes = [['', 'all'] as const, ...Object.entries(outcomeWords).map(([name, [words]]) => [name, words] as const)];

type Events = z.infer<typeof eventsResponse>;

export function EventsPage({ relayId }: { relayId: string }) {
  const { companyId, ruleName } = useCompany();
  const outcome = useSignal('');
  const at = path`/admin/companies/${companyId}/rules/${relayId}/events`;
  const [listed] = usePages<Events>(at + query({ outcome: outcome.value }));
  const about = (
    <div class="filter">
      <Choice label="Outcome" of={outcome} options={outcomes} />
      <a href={pageOf.rule(companyId, relayId)}>The rule</a>
    </div>
  );
  return (
    <PageOf title={`Events of ${ruleName(relayId)}`} about={about} of={listed}>
      {({ events, shadowCounts }) => (
        <>
          {shadowCounts && <Shadow counts={shadowCounts} />}
          <EventTable {...{ relayId, events }} />
          <ExportLinks what="events" filter={{ relayId, outcome: outcome.value }} />
        </>
      )}
    </PageOf>
  );
}

function Shadow({ counts }: { counts: Record<string, number> }) {
  const said = Object.entries(counts).map(([outcome, count]) => `${count} ${triedWords(outcome)}`);
  return said.length === 0 ? null : <p class="note">The shadow version so far: {said.join(', ')}.</p>;
}

export function EventTable({ relayId, events }: { relayId: string; events: readonly RuleEvent[] }) {
  const { companyId } = useCompany();
  return (
    <Table
      caption="Events"
      columns={['Received', 'Assignment', 'Result', 'Version']}
      named={3}
      empty="No event has arrived. The page of the rule has the address for your platform."
      rows={events.map((event) => {
        const received = <Time at={event.receivedAt} distance />;
        const link = <a href={pageOf.event(companyId, relayId, event.eventId)}>{received}</a>;
        return [event.eventId, [link, event.assignmentId, <Became of={event} />, event.version || 'none']];
      })}
    />
  );
}

function Became({ of: { outcome, chainId, rejectedId, reason, shadow } }: { of: RuleEvent }) {
  const { companyId } = useCompany();
  const [words, tone] = outcomeWords[outcome];
  const to = chainId ? pageOf.chain(companyId, chainId) : rejectedId && pageOf.refusal(companyId, rejectedId);
  return (
    <>
      <Badge tone={tone}>{words}</Badge> {to && <a href={to}>{chainId ? 'Open the chain' : 'Show why'}</a>}{' '}
      {reason && <Said look="soft small" text={inSteps(reason)} />}
      {shadow && <span class="soft small">{`Shadow version ${shadow.version}: ${triedWords(shadow.outcome)}`}</span>}
    </>
  );
}

export function EventPage({ relayId, eventId }: { relayId: string; eventId: string }) {
  const { companyId, ruleName } = useCompany();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/events/${eventId}`;
  const known = useResource<z.infer<typeof wholeEventSchema>>(at);
  const all = <a href={pageOf.events(companyId, relayId)}>All events of {ruleName(relayId)}</a>;
  return (
    <PageOf title="Event" about={all} of={known}>
      {(event) => (
        <>
          <dl class="facts">
            <Moment name="Received" at={event.receivedAt} distance />
            <Fact name="Version">{event.version || 'none'}</Fact>
            {event.dedupe && <Fact name="Key">{event.dedupe}</Fact>}
            {event.resentFrom && (
              <Fact name="Sent again from">
                <a href={pageOf.event(companyId, relayId, event.resentFrom)}>an earlier event</a>
              </Fact>
            )}
          </dl>
          <Became of={event} />
          <p class="row">{may('steer') && <SendAgain at={at} relayId={relayId} />}</p>
          <h2>Values</h2>
          {Object.keys(event.variables).length === 0 && <p class="soft">The version takes no values from the event.</p>}
          <FieldList fields={Object.entries(event.variables).map(([name, value]) => [variableWords(name), value])} />
          <h2>Body</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus */}
          <pre class="body" tabIndex={0}>
            {JSON.stringify(event.event, undefined, 2)}
          </pre>
        </>
      )}
    </PageOf>
  );
}

/** Opens the chain that an event has started, or the page of an event that has started nothing. */
function useSending(relayId: string) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  return async (at: string, request: object) => {
    const sent = await ask<AcceptedEvent | NotApplicableEvent>('POST', at, request);
    route(sent.applies ? pageOf.chain(companyId, sent.chainId) : pageOf.event(companyId, relayId, sent.eventId));
  };
}

type TestProps = { at: string; relayId: string; contents: Contents; onClose(): void };

/** Begins with the last event, or with an invented event. @param at - the path of the rule's events. */
export function TestEvent({ at, relayId, contents, onClose }: TestProps) {
  const { companyId } = useCompany();
  const send = useSending(relayId);
  const typed = useSignal<string | undefined>(undefined);
  const last = useResource<Events>(`${at}?limit=1`, seldom).data.value;
  const given = typed.value === undefined ? undefined : readObject(typed.value);
  const eventId = given ? undefined : last?.events[0]?.eventId;
  const asked = { contents, relayId, ...(eventId ? { eventId } : { event: given ?? inventedEvent(draftOf(contents)) }) };
  const compose = last && path`/co/${companyId}/chains/compose`;
  const { body, isOutdated } = useAnswer<Composed>('POST', compose, asked, 500);
  const { event, actions = [], problems = [], reason } = body ?? {};
  const ids = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))].join(', ');
  const runs = `This runs ${counted(actions.length, 'action')}${ids && ` for assignment ${ids}`}, for real.`;
  const words = reason ? `The rule does not run for this event: ${reason}.` : problems.map(mistakeText).join(' ') || runs;
  const isBroken = typed.value !== undefined && !given;
  return (
    <Deed title="Send a test event" verb="Send" words="Sent" change={() => send(at, { event: given ?? event })} onClose={onClose}>
      <p class="note wait" role="status">
        {isBroken ? 'The event must be a JSON object.' : isOutdated ? 'Checking…' : words}
      </p>
      <JsonArea
        label="Event"
        rows={12}
        value={typed.value ?? JSON.stringify(event, undefined, 2)}
        onText={(text) => (typed.value = text)}
      />
    </Deed>
  );
}

const versions = Object.entries({ published: 'the published version', same: 'the version that ran before' });
const again = {
  ...{ title: 'Send the event again?', verb: 'Send again', words: 'Sent again' },
  about: 'All steps of the rule run again. People may get a second message. The delays start now.',
};

function SendAgain({ at, relayId }: { at: string; relayId: string }) {
  const send = useSending(relayId);
  const version = useSignal('published');
  return (
    <DeedButton {...again} change={() => send(`${at}/resend`, { version: version.value, confirm: true })}>
      <Choice label="Version" of={version} options={versions} />
    </DeedButton>
  );
}
