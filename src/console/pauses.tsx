/** Pauses of outside systems: the banner on every page, and the button in the header that begins a pause. */

import { type Pausable, pausable } from '../chain/pause.js';
import { admin, ask, co, may, pageOf, query, useCompany, useResource } from './base.js';
import type { ChainList } from './types.js';
import { Button, DeedButton, ProblemNote, Time, useDeed } from './ui/index.js';
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
  'The relay still accepts events. Each step that needs the paused system waits until the pause ends. After the pause, the waiting steps run in their order. The time between the steps stays as it was planned.';
const pausing = { title: 'Pause a system', verb: 'Pause', words: 'Paused', look: 'quiet', fields, about } as const;

export function PauseButton() {
  if (!may('manage')) return null;
  const pause = ({ what, reason, seconds = '' }: Record<string, string>) =>
    ask('PUT', admin`/pause`, { what, reason: reason || undefined, until: timeIn(+seconds) });
  return <DeedButton {...pausing} change={pause} />;
}

export function PauseBanner() {
  const { pauses } = useCompany();
  const filter = { paused: 'true', limit: `${mostCounted}` };
  const waiting = useResource<ChainList>(pauses.length > 0 ? co`/chains` + query(filter) : undefined);
  const [deed, canEnd] = [useDeed(), may('manage')];
  const { items = [], nextCursor } = waiting.data.value ?? {};
  const chains = nextCursor ? `more than ${mostCounted} chains` : counted(items.length, 'chain');
  const waits = items.length === 0 ? 'No step is due yet' : `This pause affects ${chains}`;
  const atOnce = canEnd && items.length > 0 && `End now: run the overdue steps of ${chains} immediately`;
  const end = (what: Pausable, overdue?: 'now') =>
    deed.run(() => ask('DELETE', admin`/pause` + query({ what, overdue })), 'The pause has ended.');
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
          {canEnd && (
            <Button onClick={() => void end(what)}>
              End now{atOnce && ': overdue steps keep the planned time between them'}
              <span class="unseen"> (the pause of {pausableWords[what]})</span>
            </Button>
          )}
          {atOnce && <Button {...{ class: 'quiet', onClick: () => void end(what, 'now'), children: atOnce }} />}
        </div>
      ))}
      <ProblemNote refused={deed.refused} />
    </aside>
  );
}
