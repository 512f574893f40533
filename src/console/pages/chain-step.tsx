/** One step of a chain: what went wrong and what to do, the decisions, and the details. */

import { type Fields, fixedFields } from '../../chain/fields.js';
import { hasEnded } from '../../chain/outcome.js';
import type { ActionResource, ChainResource, NoticeText } from '../../contract/chain-resource.js';
import { noticeKindOf } from '../../contract/notices.js';
import { path } from '../addresses.js';
import { useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { Asked, UnknownNote } from '../ui/known.js';
import { Fact, Failure, FieldList, Said, Time } from '../ui/text.js';
import { counted, failureTitle, verbWords } from '../words.js';

/** Shows a time with a name. Shows nothing if there is no time. */
export function Moment({ name, at, distance }: { name: string; at: string | undefined; distance?: boolean }) {
  return at ? (
    <Fact name={name}>
      <Time at={at} distance={distance} />
    </Fact>
  ) : null;
}

export function ChainStep({ chain, action, onDone }: { chain: ChainResource; action: ActionResource; onDone(): void }) {
  const { companyId } = useCompany();
  const { state, error, reason, result, deliveries = [], steered = [] } = action;
  const { nextAttemptAt, heldUntil, pausedSince, assignmentId } = action;
  const retry = Date.parse(nextAttemptAt ?? '') < Date.now() ? 'Retry overdue since' : 'Next retry';
  const at = path`/co/${companyId}/chains/${chain.chainId}/actions/${String(action.index)}`;
  return (
    <>
      <dl class="facts small">
        <Moment name="Paused since" at={pausedSince} />
        {!hasEnded(state) && <Moment name={retry} at={nextAttemptAt} distance />}
        {!hasEnded(state) && <Moment name="Fails if nobody decides" at={heldUntil} distance />}
      </dl>
      {result?.note && <Said look="small" text={`Note: ${result.note}`} />}
      {reason && reason !== error?.message && <Said look="reason" text={reason} />}
      {error &&
        (state === 'done' || state === 'skipped' ? (
          <p class="soft small">
            Earlier error: <Said text={failureTitle({ ...error, assignmentId })} />
          </p>
        ) : (
          <Failure of={{ ...error, assignmentId }} />
        ))}
      {error?.unknown && !hasEnded(state) && <UnknownNote />}
      <Verbs chain={chain} action={action} onDone={onDone} />
      {deliveries.length > 0 && (
        <details open={deliveries.some(({ sent }) => !sent)}>
          <summary>{counted(deliveries.length, 'recipient')}</summary>
          <ul>
            {deliveries.map(({ recipient, sent, error }) => (
              <li key={recipient}>
                {recipient}: {sent ? 'sent' : `not sent: ${error ?? ''}`}
              </li>
            ))}
          </ul>
        </details>
      )}
      {noticeKindOf(state) && (
        <Asked<NoticeText> key={state} summary="Notice" path={`${at}/notice`}>
          {NoticeWords}
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

function NoticeWords({ sentence, sections }: NoticeText) {
  return (
    <div class="card small">
      <p>
        <Said text={sentence} />
      </p>
      {sections.map(({ title, lines }) => (
        <section key={title}>
          <h3>{title}</h3>
          {lines.map((line) => (
            <p key={line}>
              <Said text={line} />
            </p>
          ))}
        </section>
      ))}
    </div>
  );
}
