/** Pauses of outside systems: the banner on every page, and the button in the header that begins a pause. */

import { pausable } from '../chain/pause.js';
import { admin, ask, co, may, pageOf, query, useCompany, useResource } from './base.js';
import type { ChainList } from './types.js';
import { DeedButton, Time } from './ui/index.js';
import { counted, pausableWords, timeIn } from './words.js';

/** The choices for the end of a pause. The key is the length of the pause in seconds. */
const ends = { 0: 'when a person ends it', 600: 'in 10 minutes', 1800: 'in 30 minutes', 7200: 'in 2 hours', 28800: 'in 8 hours' };
const mostCounted = 200; // the banner counts at most this many waiting chains

const fields = {
  what: { label: 'System', options: pausable.map((value) => [value, pausableWords[value]] as const), first: 'all' },
  seconds: { label: 'Ends', options: Object.entries(ends), first: '7200' },
  reason: { label: 'Reason', hint: 'Every waiting step shows this reason.', maxLength: 500 },
};

const about =
  'The relay still accepts events. Each step that needs the paused system waits until the pause ends. After the pause, the waiting steps run in their order. Steps that are due after the pause run at their planned times.';
const pausing = { title: 'Pause a system', verb: 'Pause', words: 'Paused', look: 'quiet', fields, about } as const;

export function PauseButton() {
  if (!may('manage')) return null;
  const pause = ({ what, reason, seconds = '' }: Record<string, string>) =>
    ask('PUT', admin`/pause`, { what, reason: reason || undefined, until: timeIn(+seconds) });
  return <DeedButton {...pausing} change={pause} />;
}

const ending = { title: 'End the pause?', verb: 'End now', words: 'The pause has ended.' };
const options = Object.entries({ '': 'run with the planned time between them', now: 'run all at once' });
const hint = 'For example, two steps that were planned 20 minutes apart run 20 minutes apart. Later steps keep their times.';

export function PauseBanner() {
  const { pauses } = useCompany();
  const filter = { paused: 'true', limit: `${mostCounted}` };
  const waiting = useResource<ChainList>(pauses.length > 0 ? co`/chains` + query(filter) : undefined);
  const { items = [], nextCursor } = waiting.data.value ?? {};
  const chains = nextCursor ? `more than ${mostCounted} chains` : counted(items.length, 'chain');
  const waits = items.length === 0 ? 'No step is due yet' : `Steps of ${chains} are waiting`;
  const overdue = { label: `Steps of ${chains} that waited during the pause`, options, hint };
  if (pauses.length === 0) return null;
  return (
    <aside class="banner" aria-label="Pauses">
      {pauses.map(({ what, since, until, reason }) => (
        <div key={what} class="note wait row">
          <span class="grows">
            <strong>Paused: {pausableWords[what]}</strong>, since <Time at={since} />
            <Time before=", until " at={until} distance />
            {reason && `. Reason: ${reason}`}. <a href={pageOf.chains({ paused: 'true' })}>{waits}</a>.
          </span>
          {may('manage') && (
            <DeedButton
              {...{ ...ending, unseen: ` (the pause of ${pausableWords[what]})`, fields: items.length > 0 ? { overdue } : {} }}
              change={({ overdue }) => ask('DELETE', admin`/pause` + query({ what, overdue: overdue || undefined }))}
            />
          )}
        </div>
      ))}
    </aside>
  );
}
