/** Times, states, failures and facts as text. */

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { ActionState, ChainStatus } from '../../chain/outcome.js';
import { codedFields, valueText } from '../../chain/sentences.js';
import { fieldLabel, labelled, technicalDetails } from '../../chain/words.js';
import { CompanyContext, type Resource, useCompany } from '../base.js';
import { editText } from '../fields.js';
import type { ActionResource, Token } from '../types.js';
import { durationText, wholeTimeText } from '../when.js';
import type { Failure as FailureOf, Tone } from '../words.js';
import { failureDetails, failureRemedy, failureTitle, fromNow, localTimes, stateWords, timeText, toneOf } from '../words.js';

export const Badge = ({ tone = '', children }: { tone?: Tone | ''; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const State = ({ of, result }: { of: ActionState | ChainStatus; result?: ActionResource['result'] }) => (
  <Badge tone={toneOf(of, result)}>{stateWords(of, result)}</Badge>
);

/** The current time. It changes every ten seconds. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

/** `distance`: adds `(5 minutes ago)`. */
type TimeProps = { at: string | undefined; distance?: boolean; before?: string; look?: string };

/** Shows `before` and the time in the company's zone; nothing if `at` is undefined. */
export function Time({ at, distance, before, look }: TimeProps) {
  const { timeZone } = useCompany();
  if (!at) return null;
  return (
    <>
      {before}
      <time class={look} dateTime={at} title={wholeTimeText(at, timeZone)}>
        {timeText(at, timeZone, now.value)}
        {distance && <span class="soft"> ({fromNow(at, Math.max(now.value, Date.now()))})</span>}
      </time>
    </>
  );
}

export function Silence({ last, look }: { last: string | undefined; look?: string }) {
  const words = last && `for ${durationText((now.value - Date.parse(last)) / 1000)}, since `;
  return <span class={look}>no event {last ? <Time before={words} at={last} /> : 'since the rule was published'}</span>;
}

/** Shows a text from the API, with its times in the company's zone. @param look - makes a paragraph with this CSS class. */
export function Said({ text, look }: { text: string; look?: string }) {
  const { timeZone } = useContext(CompanyContext) ?? {};
  const said = timeZone ? localTimes(text, timeZone, now.value) : text;
  return look === undefined ? said : <p class={look}>{said}</p>;
}

/** Shows what happened and what to do. @param under - the heading above this text. The title of the failure does not repeat it. */
export function Failure({ of, under }: { of: Omit<FailureOf, 'type'> & { type?: string }; under?: string }) {
  const failure = { type: '', ...of };
  const [title, remedy, details] = [labelled(failureTitle(failure)), failureRemedy(failure), failureDetails(failure)];
  return (
    <>
      <p>
        {title !== under && (
          <strong class="error">
            <Said text={title} />.
          </strong>
        )}{' '}
        {remedy && <Said text={`${labelled(remedy)}.`} />}
      </p>
      {details && (
        <details class="small">
          <summary>{technicalDetails()}</summary>
          <Said look="error" text={details} />
        </details>
      )}
      {of.unknown && (
        <p class="note wait">The result of this step is unknown. Before you retry, look in the system that the step uses.</p>
      )}
    </>
  );
}

export function Lifetime({ of }: { of: Omit<Token, 'tokenId' | 'purpose' | 'state'> }) {
  return (
    <p class="soft small">
      <Time before="Created " at={of.createdAt} />
      <Time before="; expires " at={of.expiresAt} distance />
      <Time before="; revoked " at={of.revokedAt} />
      {of.lastUsedAt ? <Time before="; last used " at={of.lastUsedAt} distance /> : '; never used'}
    </p>
  );
}

export function UpToDate({ of }: { of: Resource<unknown> }) {
  const { timeZone } = useContext(CompanyContext) ?? {};
  const at = of.at.value;
  if (at === undefined || timeZone === undefined) return null;
  return <p class="soft small">{`Updated at ${timeText(new Date(at).toISOString(), timeZone, at)} (${timeZone}).`}</p>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Moment({ name, ...time }: { name: string } & TimeProps) {
  return time.at ? <Fact name={name}>{<Time {...time} />}</Fact> : null;
}

const shown = (name: string, value: unknown) =>
  codedFields.includes(name) ? valueText(name, value) : editText(value).replace(name === 'bodyHtml' ? /<[^>]+>/g : /$/, '');

export function FieldList({ fields }: { fields: readonly [name: string, value: unknown][] }) {
  return (
    <dl class="facts small">
      {fields.map(([name, value]) => (
        <Fact name={fieldLabel(name)}>{shown(name, value)}</Fact>
      ))}
    </dl>
  );
}

/** A link to Temporal's own pages. Shows nothing if these pages have no address. */
export function InTemporal({ at, words }: { at: string | undefined; words?: string }) {
  return at ? (
    <a {...{ href: at, target: '_blank', rel: 'noreferrer' }}>{words ?? 'Technical view (opens another program: Temporal)'}</a>
  ) : null;
}
