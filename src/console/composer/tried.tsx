/** Tries contents on past events, without effect: how many events would be different, and in which fields. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { z } from 'zod';
import { capital } from '../../chain/text.js';
import { triedText } from '../../chain/tried-text.js';
import type { Tried, TriedOutcome, tryRequest } from '../../contract/rule-contents.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { useCompany } from '../session.js';
import { useDeed } from '../ui/buttons.js';
import { Select } from '../ui/fields.js';
import { ProblemNote } from '../ui/known.js';
import { Said, Time } from '../ui/text.js';
import type { Tone } from '../words.js';
import { counted } from '../words.js';
import { Change, valueText } from './differences.js';
import { fieldName, inSteps, placeText } from './plain-words.js';

export const triedWords: Record<TriedOutcome, string> = {
  same: 'the same',
  different: 'different',
  'no-longer-applies': 'no longer run',
  'applies-now': 'run now',
  'not-applicable': 'not run',
  'would-be-refused': 'refused',
  'needs-attention': 'needs attention',
};

const tones: Partial<Record<TriedOutcome, Tone>> = {
  different: 'wait',
  'no-longer-applies': 'wait',
  'applies-now': 'wait',
  'would-be-refused': 'bad',
  'needs-attention': 'bad',
};

interface TriedViewProps {
  relayId: string;
  version: z.input<typeof tryRequest>['version'];
  /** Called with the result, or undefined while the trial runs. */
  onTried?(tried: Tried | undefined): void;
}

export function TriedView({ relayId, version, onTried }: TriedViewProps) {
  const { companyId } = useCompany();
  const [last, tried] = [useSignal('200'), useSignal<Tried | undefined>(undefined)];
  const deed = useDeed();
  useEffect(() => {
    onTried?.(undefined);
    void deed.run(async () => {
      const request: z.input<typeof tryRequest> = { version, events: { last: Number(last.value) } };
      tried.value = await ask<Tried>('POST', path`/admin/companies/${companyId}/rules/${relayId}/try`, request);
      onTried?.(tried.value);
    });
  }, [last.value, version]);
  return (
    <>
      <Select
        label="Tried on"
        value={last.value}
        onPick={(picked) => (last.value = picked)}
        options={['50', '200', '1000'].map((count) => [count, `the last ${count} events`])}
      />
      <ProblemNote refused={deed.refused} />
      {deed.busy && <p class="soft">Trying…</p>}
      {!deed.busy && tried.value && <TriedResult tried={tried.value} relayId={relayId} />}
    </>
  );
}

function TriedResult({ tried, relayId }: { tried: Tried; relayId: string }) {
  const { companyId } = useCompany();
  const { problems, events } = tried;
  if (problems.length > 0)
    return (
      <div class="note bad">
        Correct the mistakes first:
        <ul>
          {problems.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              {placeText(pointer)} {inSteps(detail)}.
            </li>
          ))}
        </ul>
      </div>
    );
  return (
    <>
      <p class="note">
        <strong>{triedText(tried, 'the last ')}</strong>
      </p>
      {events.length > 0 && (
        <details>
          <summary>{counted(events.length, 'event')} with a difference</summary>
          <ul class="plain">
            {events.map(({ eventId, receivedAt, outcome, reason, differences = [] }) => (
              <li key={eventId} class="difference">
                <a href={pageOf.event(companyId, relayId, eventId)}>
                  <Time at={receivedAt} />
                </a>{' '}
                <span class={`badge ${tones[outcome] ?? 'quiet'}`}>{triedWords[outcome]}</span>
                {reason && <Said look="reason small" text={capital(inSteps(reason))} />}
                <ul class="changes small">
                  {differences.map(({ action, field, before, after }) => (
                    <Change
                      key={`${action} ${field}`}
                      name={`Step ${action + 1}, ${fieldName(field)}`}
                      before={valueText(field, before)}
                      after={valueText(field, after)}
                    />
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
