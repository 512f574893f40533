/** Tries contents on past events, without effect. Before a version is published, the dialog shows this trial. */

import { useSignal } from '@preact/signals';
import { capital } from '../../chain/text.js';
import { shownDifferences, triedText, triedWords } from '../../chain/tried-text.js';
import { admin, pageOf, useAnswer } from '../base.js';
import type { Tried, TriedOutcome, tryRequest, z } from '../types.js';
import { Choice, type ConfirmProps, Deed, Mistakes, ProblemNote, Said, Time } from '../ui/index.js';
import { counted, fieldLabel, labelled, mistakeText, type Tone } from '../words.js';
import { Changes } from './differences.js';

const tones: Record<TriedOutcome, Tone> = {
  ...({ same: 'quiet', 'not-applicable': 'quiet', 'would-be-refused': 'bad', 'needs-attention': 'bad' } as const),
  ...({ different: 'wait', 'no-longer-applies': 'wait', 'applies-now': 'wait' } as const),
};

/** @returns the result, undefined while the trial runs, and the content that shows it. */
export function useTrial(relayId: string, version: z.input<typeof tryRequest>['version']) {
  const last = useSignal('200');
  const request: z.input<typeof tryRequest> = { version, events: { last: Number(last.value) } };
  const { body, isOutdated, refused } = useAnswer<Tried>('POST', admin`/rules/${relayId}/try`, request);
  const tried = isOutdated ? undefined : body;
  const shown = (
    <>
      <Choice
        label="Try the rule on these events"
        of={last}
        options={['50', '200', '1000'].map((count) => [count, `the last ${count} events`])}
      />
      <ProblemNote refused={refused} />
      {!tried && !refused && <p class="soft">Trying…</p>}
      {tried && <TriedResult tried={tried} relayId={relayId} />}
    </>
  );
  return [tried, shown] as const;
}

function TriedResult({ tried, relayId }: { tried: Tried; relayId: string }) {
  const { problems, events } = tried;
  if (problems.length > 0)
    return (
      <div class="note bad">
        Correct the mistakes first:
        <Mistakes of={problems} words={mistakeText} />
      </div>
    );
  return (
    <>
      <p class="note">{triedText(tried, 'the last ')}</p>
      {events.length > 0 && (
        <details>
          <summary>{counted(events.length, 'event')} with a different result</summary>
          <ul class="plain">
            {events.map(({ eventId, receivedAt, assignmentId, outcome, reason, differences = [] }) => (
              <li key={eventId} class="difference">
                <a href={pageOf.event(relayId, eventId)}>
                  <Time at={receivedAt} /> {assignmentId}
                </a>{' '}
                <span class={`badge ${tones[outcome]}`}>{triedWords(outcome)}</span>
                {reason && <Said look="reason small" text={capital(labelled(reason))} />}
                <ul class="small">
                  {shownDifferences(differences).map((change) => (
                    <Changes of={[change]} nameOf={(field) => `Step ${change.action + 1}: “${fieldLabel(field)}”`} />
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

interface PublishProps extends Pick<ConfirmProps, 'title' | 'verb' | 'about' | 'onClose' | 'children'> {
  relayId: string;
  version: 'draft' | number;
  publish(note: { note?: string }): Promise<unknown>;
  onPublished?(): void;
}

const fields = { note: { label: 'Why? (optional)', hint: 'The list of versions shows your reason.', rows: 2, maxLength: 1000 } };

/** Publishes the draft, or an old version again. */
export function PublishDialog({ verb, relayId, version, publish, onPublished, children, ...dialog }: PublishProps) {
  const [tried, shown] = useTrial(relayId, version);
  return (
    <Deed
      {...{ ...dialog, fields, verb: tried ? verb : `${verb} without trying it first`, words: 'Published', onDone: onPublished }}
      change={({ note }) => publish(note ? { note } : {})}
    >
      {children}
      {shown}
    </Deed>
  );
}
