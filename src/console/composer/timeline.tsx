/** Rehearses the draft beside the cards: what each step would do, and when. Nothing is sent. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { delaySeconds } from '../../chain/durations.js';
import { deedWords } from '../../chain/sentences.js';
import { capital } from '../../chain/text.js';
import { useCompany } from '../base.js';
import { Badge, Choice, Entry, ProblemNote, Said, Section } from '../ui/index.js';
import { durationText, forecastTone, labelled, mistakeText, timeText } from '../words.js';
import { cardId } from './card.js';
import type { Card } from './draft.js';
import { useKnowledge } from './knowledge.js';
import type { Play, Rehearsal } from './use-rehearsal.js';

const scenarioWords: Record<Play, string> = {
  ...{ 'nobody-found': 'No technician is found', 'nobody-accepts': 'Technicians get the assignment, but nobody accepts it' },
  ...{ 'platform-down': 'The platform does not answer for 1 hour', now: 'Nothing changes at the platform' },
};

export function Timeline({ rehearsal, children }: { rehearsal: Rehearsal; children: ComponentChildren }) {
  const { draft } = useKnowledge();
  const { timeZone } = useCompany();
  const { play, assignmentId, eventId, listed, composed, played, isOutdated, refused } = rehearsal;
  const [problem] = (composed?.applies !== false && composed?.problems) || [];
  const typed = useSignal(assignmentId.value);
  const use = () => (assignmentId.value = typed.value.trim());
  const count = played?.actions.filter(({ outcome }) => outcome === 'runs').length;
  const received = listed.map(({ eventId, receivedAt }) => [eventId, timeText(receivedAt, timeZone, Date.now())] as const);
  return (
    <Section title="Rehearsal" look="card rehearsal">
      <p class="soft small" role="status">
        Nothing is sent. {played && `Steps that would run: ${count} of ${played.actions.length}.`}
      </p>
      <Choice label="What happens?" of={play as Signal<string>} options={Object.entries(scenarioWords)} />
      <details>
        <summary>The rehearsal uses {assignmentId.value ? `assignment ${assignmentId.value}` : 'an example assignment'}</summary>
        <Entry
          hint="The rehearsal reads this assignment from the platform. Leave the field empty to use an example assignment."
          {...{ label: 'Assignment number', of: typed, onChange: use, autocomplete: 'off' }}
        />
        {listed.length > 0 && <Choice label="Event" of={eventId} options={[['', 'the last event'], ...received]} />}
      </details>
      <ProblemNote refused={refused} />
      {children}
      {composed?.applies === false && <p class="note wait">The rule does not run for this event: {composed.reason}.</p>}
      {played && (
        <ol class={isOutdated ? 'rail outdated' : 'rail'} aria-label="Timeline of the steps">
          {stopsOf(draft.cards, played.actions, play.value).map((stop) => (
            <Stop key={stop.place} {...stop} />
          ))}
        </ol>
      )}
      {played?.remark && <p class="note wait">{labelled(played.remark)}</p>}
      {!played && problem && (
        <p class="note wait">{mistakeText(problem)} To see the rehearsal, correct this mistake, or choose another event.</p>
      )}
    </Section>
  );
}

/** The steps by time. A step without a time waits for a person, so it comes last. */
function stopsOf(cards: readonly Card[], actions: NonNullable<Rehearsal['played']>['actions'], play: Play) {
  const stops = actions.map((action, place) => {
    const card = cards[place];
    const due = delaySeconds(card?.fields.delayInSeconds);
    const isAlone = play === 'nobody-found' && action.outcome === 'runs' && action.action === 'platform_sendAssignment';
    return { place, card, action, isAlone, seconds: play === 'now' ? due : (action.afterSeconds ?? due) };
  });
  const order = ({ seconds = Number.MAX_VALUE }: (typeof stops)[number]) => seconds;
  return stops.sort((one, other) => order(one) - order(other) || one.place - other.place);
}

function Stop({ card, action, isAlone, seconds }: ReturnType<typeof stopsOf>[number]) {
  const { outcome, reason, paused, attempts = 1, toldAfterSeconds: told, condition } = action;
  const tone = isAlone ? 'wait' : forecastTone[outcome];
  const after = (at: number) => (at ? `after ${durationText(at > 120 ? 60 * Math.round(at / 60) : at)}` : 'immediately');
  const tried = attempts > 1 && `${attempts} attempts, each after a longer wait`;
  const alerted = told !== undefined && `${after(told)}, your company's addresses for notices get a notice`;
  const notes = [tried, alerted, outcome === 'runs' && condition?.reason, reason, paused];
  return (
    <li class={tone}>
      <strong>{seconds === undefined ? 'Later' : capital(after(seconds))}:</strong>{' '}
      {card && <a href={`#${cardId(card)}`}>{capital(deedWords(card.fields))}</a>}{' '}
      <Badge tone={tone}>{isAlone ? 'reaches nobody' : outcome === 'held' ? 'waits' : outcome.replaceAll('-', ' ')}</Badge>
      {notes.map((note) => note && <Said key={note} look="soft small" text={capital(labelled(note))} />)}
    </li>
  );
}
