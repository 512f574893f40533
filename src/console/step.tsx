/** One step of a chain: what went wrong and what to do, the decisions, and the details. */

import { type Fields, fixedFields } from '../chain/fields.js';
import { hasEnded } from '../chain/outcome.js';
import type { ActionResource, ChainResource, NoticeText } from '../contract/chain-resource.js';
import { noticeKindOf } from '../contract/notices.js';
import { path } from './addresses.js';
import { useCompany } from './session.js';
import { Asked, Failure, FieldList, Moment, Said, Time } from './ui/index.js';
import { Verbs } from './verbs.js';
import { counted, failureTitle, verbWords } from './words.js';

export function StepBody({ chain, action, onDone }: { chain: ChainResource; action: ActionResource; onDone(): void }) {
  const { companyId } = useCompany();
  const { state, reason, result, deliveries = [], steered = [], nextAttemptAt, assignmentId } = action;
  const error = action.error && { ...action.error, assignmentId };
  const isPast = state === 'done' || state === 'skipped';
  const retry = Date.parse(nextAttemptAt ?? '') < Date.now() ? 'Retry overdue since' : 'Next retry';
  const at = path`/co/${companyId}/chains/${chain.chainId}/actions/${String(action.index)}`;
  return (
    <>
      <dl class="facts small">
        <Moment name="Paused since" at={action.pausedSince} />
        {!hasEnded(state) && <Moment name={retry} at={nextAttemptAt} distance />}
        {!hasEnded(state) && <Moment name="Fails if nobody decides" at={action.heldUntil} distance />}
      </dl>
      {result?.note && <Said look="small" text={`Note: ${result.note}`} />}
      {reason && reason !== error?.message && <Said look="reason" text={reason} />}
      {error && isPast && <Said look="soft small" text={`Earlier error: ${failureTitle(error)}`} />}
      {error && !isPast && <Failure of={error} />}
      <Verbs chain={chain} action={action} onDone={onDone} />
      {deliveries.length > 0 && (
        <details open={deliveries.some(({ sent }) => !sent)}>
          <summary>{counted(deliveries.length, 'recipient')}</summary>
          <FieldList
            fields={deliveries.map(({ recipient, sent, error }) => [recipient, sent ? 'sent' : `not sent: ${error ?? ''}`])}
          />
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
      <Asked<{ fields: Fields }> summary="Fields" path={`${at}/fields`}>
        {({ fields }) => <FieldList fields={Object.entries(fields).filter(([name]) => !fixedFields.includes(name))} />}
      </Asked>
      {steered.map(({ at, by, verb, fields = [] }) => (
        <p key={at} class="soft small">
          {by}: {verbWords[verb]}
          {fields.length > 0 && ` (${fields.join(', ')})`}, <Time at={at} />
        </p>
      ))}
    </>
  );
}
