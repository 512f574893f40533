/** The steps of chains on one timeline: a line drawn to scale for each step, and below it what a page says about the step. */

import type { ComponentChildren } from 'preact';
import { hasEnded } from '../chain/outcome.js';
import { type Scale, scaleOf, width } from '../chain/timeline.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { deedOf } from './story.js';
import { now, State, Time } from './ui/text.js';
import { durationText } from './when.js';
import { counted, toneOf } from './words.js';

export interface Step {
  chain: ChainResource;
  action: ActionResource;
  /** When the action ran or will run. */
  at: string;
}

/** The steps of a chain in their order. An action never comes before an earlier action with the same due time. */
export function stepsOf(chain: ChainResource): Step[] {
  const last = new Map<string | undefined, string>();
  return chain.actions.map((action) => {
    const { startedAt, endedAt, runAt } = action;
    const at = startedAt ?? endedAt ?? [runAt ?? chain.receivedAt, last.get(runAt) ?? ''].sort()[1] ?? '';
    last.set(runAt, at);
    return { chain, action, at };
  });
}

const ms = (iso: string) => Date.parse(iso);

/** From the request to the last thing that happened or will happen. The end of a hold is left out, because it is days away. */
function spanOf({ receivedAt, closedAt, actions }: ChainResource) {
  const times = actions.flatMap(({ runAt, endedAt, startedAt, nextAttemptAt, state }) => [
    state === 'scheduled' ? runAt : undefined,
    hasEnded(state) ? undefined : nextAttemptAt,
    startedAt,
    endedAt,
  ]);
  const ends = [...times, closedAt].flatMap((time) => (time === undefined ? [] : ms(time)));
  return { from: ms(receivedAt), to: Math.max(ms(receivedAt), ...ends, ...(closedAt ? [] : [now.value])) };
}

interface TimelineProps {
  steps: readonly Step[];
  /** What the page says about a step. */
  children(step: Step): ComponentChildren;
}

export function Timeline({ steps, children }: TimelineProps) {
  const spans = [...new Set(steps.map(({ chain }) => chain))].map(spanOf);
  const scale = scaleOf(spans);
  const iso = (time: number) => new Date(time).toISOString();
  const [from, to] = [Math.min(...spans.map(({ from }) => from)), Math.max(...spans.map(({ to }) => to))];
  if (steps.length === 0) return null;
  return (
    <>
      <p class="axis soft small" aria-hidden="true">
        <Time at={iso(from)} />
        {scale.breaks.length > 0 && (
          <span>shaded: {scale.breaks.map(({ ms }) => durationText(ms / 1000)).join(', ')} without a chain</span>
        )}
        <Time at={iso(to)} />
      </p>
      <ol class="rail">
        {steps.map((step) => (
          <li key={`${step.chain.chainId} ${step.action.index}`} class={toneOf(step.action.state, step.action.result)}>
            <article aria-label={deedOf(step.action)}>
              <h2>
                {deedOf(step.action)} <State of={step.action.state} result={step.action.result} />
              </h2>
              <Track step={step} scale={scale} />
              <p class="small soft">
                <When step={step} />
              </p>
              {children(step)}
            </article>
          </li>
        ))}
      </ol>
    </>
  );
}

function When({ step: { action, at } }: { step: Step }) {
  const { state, comment, reason, startedAt, endedAt, attempts = 0, result } = action;
  const seconds = startedAt && endedAt ? (ms(endedAt) - ms(startedAt)) / 1000 : 0;
  return (
    <>
      {comment && `${comment}. `}
      {state === 'pending' ? !reason && 'Waits for the previous action' : <Time at={at} distance />}
      {seconds >= 1 && `, took ${durationText(seconds)}`}
      {attempts > 1 && `, ${counted(attempts, 'attempt')}`}
      {!!result?.recipients && action.action === 'platform_sendAssignment' && `, ${counted(result.recipients, 'worker')} found`}
    </>
  );
}

function Track({ step: { chain, action }, scale }: { step: Step; scale: Scale }) {
  const place = (iso: string) => scale.place(ms(iso));
  const { state, startedAt, endedAt, runAt = chain.receivedAt, nextAttemptAt } = action;
  const isOver = hasEnded(state);
  const begin = state === 'pending' ? scale.place(now.value) : place(startedAt ?? endedAt ?? runAt);
  const end = endedAt ? place(endedAt) : startedAt && !isOver ? scale.place(now.value) : begin;
  const bar = (look: string, from: number, size: number, height: number) => (
    <rect class={look} x={Math.min(from, width - size)} y={(12 - height) / 2} width={Math.max(size, 0)} height={height} />
  );
  return (
    <svg class="track" viewBox={`0 0 ${width} 12`} preserveAspectRatio="none" aria-hidden="true">
      {bar('line', 0, width, 1)}
      {scale.breaks.map(({ from, to }) => bar('break', from, to - from, 12))}
      {bar('waits', place(chain.receivedAt), begin - place(chain.receivedAt), 2)}
      {state !== 'pending' && bar(state === 'scheduled' ? 'due' : 'runs', begin, Math.max(8, end - begin), 10)}
      {!isOver && nextAttemptAt && bar('due', place(nextAttemptAt), 8, 10)}
      {chain.closedAt === undefined && bar('now', scale.place(now.value), 2, 12)}
    </svg>
  );
}
