/** The steps of chains on one timeline: a line drawn to scale for each step, what went wrong, and the decisions. */

import type { ComponentChildren } from 'preact';
import type { Fields } from '../chain/fields.js';
import { hasEnded } from '../chain/outcome.js';
import { capital } from '../chain/text.js';
import { type Scale, scaleOf, width } from '../chain/timeline.js';
import { noticeKindOf } from '../contract/notices.js';
import { co } from './base.js';
import { shownFields } from './fields.js';
import { deedOf } from './story.js';
import type { ActionResource, ChainResource, NoticeText } from './types.js';
import { Asked, Failure, FieldList, Moment, now, Said, State, Time } from './ui/index.js';
import { Verbs } from './verbs.js';
import { byWords, counted, durationText, failureTitle, fieldLabel, labelled, listed, toneOf, verbWords } from './words.js';

/** `at`: when the action ran or will run. */
export type Step = { chain: ChainResource; action: ActionResource; at: string };

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

/** The time from the request to the last event of the chain, past or planned. Ignores the ends of holds, which are days away. */
function spanOf({ receivedAt, closedAt, actions }: ChainResource) {
  const times = actions.flatMap(({ runAt, endedAt, startedAt, nextAttemptAt, state }) => [
    state === 'scheduled' ? runAt : undefined,
    hasEnded(state) ? undefined : nextAttemptAt,
    startedAt,
    endedAt,
  ]);
  const ends = [...times, closedAt].flatMap((time) => (time === undefined ? [] : Date.parse(time)));
  const from = Date.parse(receivedAt);
  return { from, to: Math.max(from, ...ends, ...(closedAt ? [] : [now.value])) };
}

/** @param about - a line below each heading. */
export function Timeline({ steps, about }: { steps: readonly Step[]; about?(step: Step): ComponentChildren }) {
  if (steps.length === 0) return null;
  const spans = [...new Set(steps.map(({ chain }) => chain))].map(spanOf);
  const scale = scaleOf(spans);
  const gaps = scale.breaks.map(({ ms }) => durationText(ms / 1000)).join(', ');
  const iso = (time: number) => new Date(time).toISOString();
  return (
    <>
      <p class="row spread axis soft small" aria-hidden="true">
        <Time at={iso(Math.min(...spans.map(({ from }) => from)))} />
        {gaps && <span>Grey part: nothing happened{scale.breaks.length < 4 && ` for ${gaps}`}</span>}
        <Time at={iso(Math.max(...spans.map(({ to }) => to)))} />
      </p>
      <ol class="rail">
        {steps.map((step) => (
          <li key={`${step.chain.chainId} ${step.action.index}`} class={toneOf(step.action.state, step.action.result)}>
            <article aria-label={deedOf(step.action)}>
              <h2>
                {!about && `${step.action.index + 1}. `}
                {deedOf(step.action)} <State of={step.action.state} result={step.action.result} />
              </h2>
              <Track step={step} scale={scale} />
              <p class="small soft">
                <When step={step} /> {about && ['· ', about(step)]}
              </p>
              <StepBody {...step} />
            </article>
          </li>
        ))}
      </ol>
    </>
  );
}

function When({ step: { action, at } }: { step: Step }) {
  const { state, comment, reason, startedAt, endedAt, attempts = 0, result } = action;
  const seconds = startedAt && endedAt ? (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 : 0;
  return (
    <>
      {state === 'pending' ? reason ? 'Waits' : 'Waits for the previous step' : <Time at={at} distance />}
      {state === 'scheduled' && reason && ', moved because of the pause'}
      {seconds >= 1 && action.state !== 'skipped' && `, took ${durationText(seconds)}`}
      {attempts > 1 && `, ${counted(attempts, 'attempt')}`}
      {!!result?.recipients &&
        action.action === 'platform_sendAssignment' &&
        `, ${counted(result.recipients, 'technician')} found`}
      {comment && ` · Note: “${comment}”`}
    </>
  );
}

function Track({ step: { chain, action }, scale }: { step: Step; scale: Scale }) {
  const place = (iso: string) => scale.place(Date.parse(iso));
  const { state, startedAt, endedAt, runAt = chain.receivedAt, nextAttemptAt } = action;
  const [isOver, today] = [hasEnded(state), scale.place(now.value)];
  const begin = state === 'pending' ? today : place(startedAt ?? endedAt ?? runAt);
  const end = endedAt ? place(endedAt) : startedAt && !isOver ? today : begin;
  const bar = (colour: string, from: number, size: number, height: number, look = '') => (
    <rect
      {...{ class: look, fill: `var(--${colour})`, height, width: Math.max(size, 0) }}
      {...{ x: Math.min(from, width - size), y: (12 - height) / 2 }}
    />
  );
  return (
    <svg class="track" viewBox={`0 0 ${width} 12`} width="100%" height="0.75rem" preserveAspectRatio="none" aria-hidden="true">
      {bar('line', 0, width, 1)}
      {scale.breaks.map(({ from, to }) => bar('line', from, to - from, 12))}
      {bar('soft', place(chain.receivedAt), begin - place(chain.receivedAt), 2)}
      {state === 'scheduled' && bar('card', begin, 8, 10, 'due')}
      {state !== 'scheduled' && state !== 'pending' && bar('tone', begin, Math.max(8, end - begin), 10)}
      {!isOver && nextAttemptAt && bar('card', place(nextAttemptAt), 8, 10, 'due')}
      {chain.closedAt === undefined && bar('accent', today, 2, 12)}
    </svg>
  );
}

function StepBody({ chain, action }: Pick<Step, 'chain' | 'action'>) {
  const { state, reason, result, deliveries = [], steered = [], nextAttemptAt, assignmentId } = action;
  const error = action.error && { ...action.error, assignmentId };
  const isPast = state === 'done' || state === 'skipped';
  const why = labelled(reason ?? '').replace(/^The (?=assignment had)/, state === 'skipped' ? 'Skipped, because the ' : 'The ');
  const retry = Date.parse(nextAttemptAt ?? '') < Date.now() ? 'Retry overdue since' : 'Next retry';
  const at = co`/chains/${chain.chainId}/actions/${String(action.index)}`;
  return (
    <>
      <dl class="facts small">
        <Moment name="Paused since" at={action.pausedSince} />
        {!hasEnded(state) && !action.pausedSince && <Moment name={retry} at={nextAttemptAt} distance />}
        {!hasEnded(state) && <Moment name="If nobody decides, the step fails at" at={action.heldUntil} distance />}
      </dl>
      {result?.note && <Said look="small" text={`Remark: ${result.note}`} />}
      {reason && reason !== error?.message && <Said look="reason" text={capital(why)} />}
      {error && isPast && <Said look="soft small" text={labelled(`Earlier error: ${failureTitle(error)}`)} />}
      {error && !isPast && <Failure of={error} />}
      <Verbs chain={chain} action={action} />
      {deliveries.length > 0 && (
        <details open={deliveries.some(({ sent }) => !sent)}>
          <summary>{counted(deliveries.length, 'recipient')}</summary>
          <FieldList fields={deliveries.map((one) => [one.recipient, one.sent ? 'sent' : `not sent: ${one.error ?? ''}`])} />
        </details>
      )}
      {noticeKindOf(state) && (
        <Asked<NoticeText> key={state} summary="Notice" path={`${at}/notice`}>
          {({ sentence, sections }) => (
            <div class="card small">
              <Said look="" text={sentence} />
              {sections.map(({ title, lines }) => (
                <section key={title}>
                  <h3>{title}</h3>
                  {lines.map((line) => (
                    <Said key={line} look="" text={line} />
                  ))}
                </section>
              ))}
            </div>
          )}
        </Asked>
      )}
      <Asked<{ fields: Fields }> summary="All values of this step" path={`${at}/fields`}>
        {({ fields }) => <FieldList fields={shownFields(fields)} />}
      </Asked>
      {steered.map(({ at, by, verb, fields = [] }) => (
        <p key={at} class="soft small">
          <Time at={at} />: {verb === 'mend' ? 'changed' : verbWords[verb]}
          {fields.length > 0 && ` ${listed(fields.map((name) => `“${fieldLabel(name)}”`))}`}, {byWords(by)}
        </p>
      ))}
    </>
  );
}
