/** The events of a rule with their results, and the page of one event. */

import { useSignal } from '@preact/signals';
import { outcomeWords, triedWords } from '../../chain/tried-text.js';
import { admin, may, pageOf, query, useCompany, usePages, useResource } from '../base.js';
import { PageOf } from '../frame.js';
import { SendAgain } from '../rule/sending.js';
import type { EventOutcome, eventsResponse, RuleEvent, wholeEventSchema, z } from '../types.js';
import { Badge, Choice, ExportLinks, Fact, FieldList, Moment, Said, Table, Time } from '../ui/index.js';
import type { Tone } from '../words.js';
import { counted, labelled, variableWords } from '../words.js';

const outcomeTones: Record<EventOutcome, Tone> = { chain: 'good', 'not-applicable': 'quiet', refused: 'bad' };
const outcomes = Object.entries({ '': 'all', ...outcomeWords });

export function EventsPage({ relayId }: { relayId: string }) {
  const { ruleName } = useCompany();
  const outcome = useSignal('');
  const at = admin`/rules/${relayId}/events` + query({ outcome: outcome.value });
  const [listed] = usePages<z.infer<typeof eventsResponse>>(at);
  const about = (
    <div class="filter">
      <Choice label="Outcome" of={outcome} options={outcomes} />
      <a href={pageOf.rule(relayId)}>The rule</a>
    </div>
  );
  return (
    <PageOf title={`Events of rule ${ruleName(relayId)}`} about={about} of={listed}>
      {({ events, shadowCounts = {} }) => {
        const tried = Object.entries(shadowCounts).map(([outcome, count]) => `${counted(count, 'event')} ${triedWords(outcome)}`);
        return (
          <>
            {tried.length > 0 && <p class="note">Result of the trial until now: {tried.join(', ')}.</p>}
            <EventTable {...{ relayId, events }} />
            <ExportLinks what="events" filter={{ relayId, outcome: outcome.value }} />
          </>
        );
      }}
    </PageOf>
  );
}

export function EventTable({ relayId, events }: { relayId: string; events: readonly RuleEvent[] }) {
  return (
    <Table
      caption="Events"
      columns={['Received', 'Assignment', 'Result', 'Version']}
      named={1}
      empty="There are no events to show. If your platform does not send its events yet, connect it on the page of the rule."
      rows={events.map((event) => {
        const received = <Time at={event.receivedAt} distance />;
        const link = <a href={pageOf.event(relayId, event.eventId)}>{received}</a>;
        return [event.eventId, [link, event.assignmentId, <Became of={event} />, event.version || 'none']];
      })}
    />
  );
}

function Became({ of: { outcome, chainId, rejectedId, reason, shadow } }: { of: RuleEvent }) {
  const [words, tone] = [outcomeWords[outcome], outcomeTones[outcome]];
  const to = chainId ? pageOf.chain(chainId) : rejectedId && pageOf.refusal(rejectedId);
  return (
    <>
      <Badge tone={tone}>{words}</Badge> {to && <a href={to}>{chainId ? 'Open the chain' : 'Show why'}</a>}{' '}
      {reason && <Said look="soft small" text={labelled(reason)} />}
      {shadow && <span class="soft small">{`Trial of version ${shadow.version}: ${triedWords(shadow.outcome)}`}</span>}
    </>
  );
}

export function EventPage({ relayId, eventId }: { relayId: string; eventId: string }) {
  const { ruleName } = useCompany();
  const at = admin`/rules/${relayId}/events/${eventId}`;
  const known = useResource<z.infer<typeof wholeEventSchema>>(at);
  const all = <a href={pageOf.events(relayId)}>All events of rule {ruleName(relayId)}</a>;
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
                <a href={pageOf.event(relayId, event.resentFrom)}>an earlier event</a>
              </Fact>
            )}
          </dl>
          <Became of={event} />
          <p class="row">{may('steer') && <SendAgain at={at} relayId={relayId} />}</p>
          <h2>Values</h2>
          {Object.keys(event.variables).length === 0 && <p class="soft">The rule takes no values from this event.</p>}
          <FieldList fields={Object.entries(event.variables).map(([name, value]) => [variableWords(name), value])} />
          <h2>Text of the event</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus */}
          <pre class="body" tabIndex={0}>
            {JSON.stringify(event.event, undefined, 2)}
          </pre>
        </>
      )}
    </PageOf>
  );
}
