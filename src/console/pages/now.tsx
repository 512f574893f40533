/** A board: the figures of today, the problems, and what is due next. */

import { useSignal } from '@preact/signals';
import { admin, co, may, pageOf, query, seldom, useCompany, usePages, useResource } from '../base.js';
import { useBulk } from '../bulk.js';
import { Page } from '../frame.js';
import { Bars } from '../rule/health.js';
import { deedOf } from '../story.js';
import type { ChainCounts, ChainList, CompanyHealth, causesResponse, RefusedCause, StoredCompany, z } from '../types.js';
import { Known, LinkRow, Pager, Said, Section, Silence, Time, UpToDate } from '../ui/index.js';
import { counted, isForTechnicians, labelled, refusalWords, sentence, startOfDay } from '../words.js';
import { CauseCard } from './cause.js';

/** At first, at most this many cards load their chain, because the page polls each loaded chain. */
const mostOpen = 3;

export function NowPage() {
  const [causes, cursors] = usePages<z.infer<typeof causesResponse>>(co`/causes`);
  /** The causes about which the user decided on this page. The cards of these causes stay, because they show the result. */
  const begun = useSignal<readonly string[]>([]);
  const health = useResource<CompanyHealth>(co`/health`, seldom);
  const quiet = health.data.value?.rules.filter(({ quietSince }) => quietSince !== undefined) ?? [];
  const requests = causes.data.value?.refused ?? [];
  const [askAll, dialog] = useBulk();
  return (
    <Page title="Now">
      <FirstRun />
      <Figures health={health.data.value} refused={requests.reduce((sum, { requests }) => sum + requests, 0)} />
      <div class="board">
        <div>
          <Known of={causes}>
            {({ items, nextCursor, refused }) => {
              const held = items.filter(({ chains }) => chains > 0);
              const hasMore = nextCursor !== undefined && held.length === items.length;
              const problems = held.length + refused.length + quiet.length;
              const count = problems === 0 ? 'No problems' : (hasMore ? 'More than ' : '') + counted(problems, 'problem');
              return (
                <>
                  <h2>{cursors.value.length > 0 ? 'More problems to solve' : `${count} to solve.`}</h2>
                  {items
                    .filter((cause) => held.includes(cause) || begun.value.includes(cause.causeId))
                    .map((cause, place) => (
                      <CauseCard
                        {...{ cause, isOpen: place < mostOpen, onAsk: askAll }}
                        key={cause.causeId}
                        onBegin={() => (begun.value = [...begun.value, cause.causeId])}
                      />
                    ))}
                  {refused.map((kind) => (
                    <RefusedCard key={[kind.relayId, kind.reason, kind.mistake].join()} kind={kind} />
                  ))}
                  {quiet.map(({ relayId, name, lastEvent }) => (
                    <Section key={relayId} look="card wait" title={`Rule ${name} gets no events`}>
                      <p>
                        There has been <Silence last={lastEvent} />. Check whether the platform still sends events.{' '}
                        <a href={pageOf.rule(relayId)}>Show the rule</a>
                      </p>
                    </Section>
                  ))}
                  <Pager cursors={cursors} next={hasMore ? nextCursor : undefined} />
                  {hasMore && <a href={pageOf.chains({ status: 'needs-attention' })}>All chains that need attention</a>}
                </>
              );
            }}
          </Known>
          <UpToDate of={causes} />
        </div>
        <div>{[<Known of={health}>{(known) => <DayChart health={known} />}</Known>, <DueNext />]}</div>
      </div>
      {dialog}
    </Page>
  );
}

/** A group of refused requests without a decision. The page of each request has the buttons. */
function RefusedCard({ kind }: { kind: RefusedCause }) {
  const { ruleName } = useCompany();
  const { relayId, reason, message, rejectedId, requests, notKept, since, lastAt } = kind;
  const [isMany, wrong] = [requests > 1, sentence(labelled(message.replace('Nothing has run. ', '')))];
  const [newest, all] = [pageOf.refusal(rejectedId), isMany && pageOf.refused()];
  return (
    <Section look="card wait" title={refusalWords[reason]}>
      <p class="soft small">
        {counted(requests, 'refused request')} of rule {ruleName(relayId)}, {isMany ? 'the first at ' : 'received '}
        <Time at={since} distance={!isMany} />
        {isMany && <Time before=", the last at " at={lastAt} distance />}
        {notKept > 0 && `. The relay could not store ${counted(notKept, 'later request')}, because the storage was full`}
      </p>
      {!isForTechnicians(reason) && <Said look="error" text={(isMany ? 'The newest request: ' : '') + wrong} />}
      <LinkRow of={{ [isMany ? 'Show the newest request' : 'Show the request']: newest, 'All refused requests': all }} />
    </Section>
  );
}

/** Each figure leads to its list. @param refused - the refused requests that nobody has sent again or dropped. */
export function Figures({ health, refused }: { health: CompanyHealth | undefined; refused: number }) {
  const { timeZone } = useCompany();
  const since = startOfDay(timeZone, Date.now());
  const counts = useResource<ChainCounts>(co`/chains/counts` + query({ since })).data.value;
  const open = useResource<ChainCounts>(co`/chains/counts`).data.value;
  const list = (status: string, since?: string) => pageOf.chains({ status, since });
  const alone = useResource<ChainCounts>(co`/chains/counts` + query({ since, nobodyFound: 'true' })).data.value;
  const nobody = alone && Object.values(alone).reduce((sum, count) => sum + count, 0);
  const hour = health?.hours.at(-1);
  const figures = [
    ['Running', open?.running, list('running'), 'busy'],
    ['Completed today', counts?.completed, list('completed', since), 'good'],
    ['Without a technician today', nobody, pageOf.chains({ nobodyFound: 'true', since }), 'wait'],
    ['Failed today', counts?.failed, list('failed', since), 'bad'],
    ['Needs attention', open?.['needs-attention'], list('needs-attention'), 'wait'],
    ['Refused requests', refused, pageOf.refused(), 'wait'],
  ] as const;
  return (
    <>
      <ul class="plain figures">
        {figures.map(([name, count, href, tone]) => (
          <li key={name}>
            <a class="card" href={href}>
              <strong class={count ? `figure ${tone}` : 'figure'}>{count ?? '\u2007'}</strong> {name}
            </a>
          </li>
        ))}
      </ul>
      <p class="soft small">
        {hour?.events ? `${counted(hour.events, 'event')} in this hour.` : hour ? 'No event in this hour yet.' : 'Loading…'}
        {hour?.usual !== undefined && ` Usual for this hour: ${hour.usual}.`}
      </p>
    </>
  );
}

export function DayChart({ health: { hours } }: { health: CompanyHealth }) {
  const bars = hours.map(({ at, events: size, failed: bad, nobody: wait, usual }) => {
    const words = `${counted(size, 'event')}${usual === undefined ? '' : ` (usually ${usual} at this hour)`}, failed: ${bad}, no technician found: ${wait}`;
    return { at, size, bad, wait, words };
  });
  return (
    <Section title="The last 24 hours">
      {hours.every(({ events }) => events === 0) && <p class="soft">No event has arrived in the last 24 hours.</p>}
      <Bars name="Blue: events by hour. Red: failed. Yellow: no technician found." bars={bars} />
    </Section>
  );
}

export function DueNext() {
  const open = useResource<ChainList>(co`/chains?steps=true&limit=50`, seldom);
  return (
    <Section title="Due next">
      <Known of={open}>
        {({ items }) => {
          const due = items.flatMap(({ next, ...chain }) => (next ? [{ ...chain, next }] : [])).reverse(); // the oldest first
          due.sort((one, other) => (one.next.at ?? '').localeCompare(other.next.at ?? ''));
          if (due.length === 0) return <p class="soft">No step is planned.</p>;
          const lines = due.slice(0, 5).map(({ chainId, assignmentIds: [assignmentId], next }) => (
            <li key={chainId}>
              {next.at ? <Time at={next.at} /> : 'After the pause:'}{' '}
              <a href={pageOf.chain(chainId)}>{deedOf(next) + (assignmentId ? `, assignment ${assignmentId}` : '')}</a>
            </li>
          ));
          return <ul class="plain">{lines}</ul>;
        }}
      </Known>
    </Section>
  );
}

export function FirstRun() {
  const { rules, ruleName } = useCompany();
  const { items } = useResource<ChainList>(co`/chains` + query({ limit: '2' })).data.value ?? {};
  const settings = useResource<StoredCompany>(may('manage') ? admin`` : undefined, seldom).data.value;
  if (!may('author') || !items || items.length > 1) return null;
  const [rule, chain] = [rules[0], items[0]];
  const [toDraft, toChain] = [rule ? pageOf.draft(rule.relayId) : pageOf.compose(), chain && pageOf.chain(chain.chainId)];
  const write = rule ? `Write the steps of the rule ${ruleName(rule.relayId)}, and publish it` : 'Write and publish a rule';
  const steps: [isDone: boolean, words: string, help: string, href: string | undefined][] = [
    [!!rule?.published || !!chain, write, 'A rule says what happens when an event arrives.', toDraft],
    [!!chain, 'Send a test event', testHelp, rule && pageOf.rule(rule.relayId)],
    [!!chain && chain.status !== 'running', 'Watch the chain', 'A chain is what the rule does for one event.', toChain],
  ];
  if (settings) steps.unshift([!!settings.platform, 'Connect your assignment platform', platformHelp, pageOf.settings()]);
  if (steps.every(([isDone]) => isDone)) return null;
  return (
    <Section title="First steps">
      <p>{relayWords}</p>
      <ol class="plain todo">
        {steps.map(([isDone, words, help, href]) => (
          <li key={words} class={isDone ? 'good' : 'quiet'}>
            {href ? <a href={href}>{words}</a> : words}
            {isDone && ' (done)'}
            <div class="soft small">{help}</div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const relayWords =
  'When your platform sends an event, the relay does the next steps for you: it sends the assignment to technicians, sends e-mails, and fills in fields of tickets.';
const platformHelp = 'The relay sends assignments through this platform, and reads the status of assignments there.';
const testHelp =
  'On the page of the rule, choose “Send a test event”. Or choose “Create the address”, enter the address in your platform, and let the platform send an event.';
