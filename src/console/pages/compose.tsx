/** The composer: a chain as cards beside a time rail, or as JSON; what is wrong with it, what it would come to, and the body to paste. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Composed, Composer } from '../../contract/dry-run.js';
import { pageOf, path } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { ActionCard, cardId, cardTitle, type Remark, UsualDelays } from '../composer/card.js';
import {
  type Card,
  cardsOf,
  elementsOf,
  type Fields,
  fieldText,
  moved,
  newCard,
  otherRules,
  railOf,
  readElements,
  withoutTokens,
} from '../composer/draft.js';
import { Finish } from '../composer/finish.js';
import { Trial } from '../composer/trial.js';
import { announce, Page } from '../frame.js';
import { Field, JsonField, Known, ProblemNote } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { ruleName, ruleOf, useCompany } from '../session.js';
import { durationText } from '../when.js';
import { actionWords, counted, forecastTone } from '../words.js';

export function ComposePage() {
  const { companyId, rules } = useCompany();
  const composer = useResource<Composer>(path`/co/${companyId}/chains/compose`, seldom);
  return (
    <Page title="Compose" about="A chain is written here, tried without effect, and pasted into the webhook that is to send it.">
      {rules.length === 0 ? (
        <p class="card">
          A chain needs a rule. <a href={pageOf.rules(companyId)}>Make one</a> first.
        </p>
      ) : (
        <Known of={composer}>{(known) => <Composing composer={known} />}</Known>
      )}
    </Page>
  );
}

function Composing({ composer }: { composer: Composer }) {
  const { companyId, rules } = useCompany();
  const { query, route } = useLocation();
  const { relayId, cards, written } = useDraft();
  const elements = elementsOf(cards.value, relayId.value);
  const text = JSON.stringify(elements);
  const unread = written.value === undefined ? undefined : readElements(written.value).error;
  const { checked, refused } = useChecked(elements, text);
  /** What a trial came to counts until something is changed. */
  const tried = useSignal<{ text: string; result: Composed } | undefined>(undefined);
  const result = tried.value?.text === text ? tried.value.result : undefined;
  const issues = result ?? checked;
  const problems = issues?.problems ?? [];
  const choose = (chosen: string) => {
    relayId.value = chosen;
    // To the address, too, one comes back.
    if (query.relayId !== undefined) route(pageOf.compose(companyId, chosen), true);
  };
  const write = () => (written.value = JSON.stringify(elementsOf(cards.value, relayId.value), undefined, 2));
  const change = (changed: string) => {
    written.value = changed;
    const { elements: read } = readElements(changed);
    if (!read) return;
    const named = read.map((element) => fieldText(element.relayId));
    const known = named.find((id) => ruleOf({ rules }, id));
    if (known !== undefined && !named.includes(relayId.value)) choose(known);
    cards.value = cardsOf(read, relayId.value);
  };
  const showCards = () => {
    if (unread) announce('It can be shown as cards once it can be read');
    else written.value = undefined;
  };
  return (
    <>
      <div class="filter">
        <Field label="Rule" hint="Whose policy and contacts it runs under.">
          {(ids) => (
            <select
              {...ids}
              value={relayId.value}
              onChange={(event) => {
                choose(event.currentTarget.value);
                if (written.value !== undefined && !unread) write();
              }}
            >
              {rules.map((rule) => (
                <option key={rule.relayId} value={rule.relayId}>
                  {rule.name} ({rule.relayId}){rule.enabled ? '' : ', disabled'}
                </option>
              ))}
            </select>
          )}
        </Field>
        <fieldset>
          <legend class="unseen">Written as</legend>
          <div class="row">
            <button type="button" aria-pressed={written.value === undefined} aria-disabled={!!unread} onClick={showCards}>
              Cards
            </button>
            <button type="button" aria-pressed={written.value !== undefined} onClick={() => written.value ?? write()}>
              JSON
            </button>
          </div>
        </fieldset>
      </div>
      {!unread && <OtherRules cards={cards.value} relayId={relayId.value} />}
      <ProblemNote refused={refused} />
      <h2>Its actions</h2>
      {written.value === undefined ? (
        <AsCards cards={cards} composer={composer} issues={issues} outcomes={result?.actions} />
      ) : (
        <>
          <JsonField
            label="The chain as JSON"
            hint="Without tokens. What can be read is on the cards at once."
            problem={unread && `${unread}. It can be shown as cards, tried and used once it can be read`}
            rows={24}
            text={written.value}
            onText={change}
          />
          {unread && (
            <p>
              <button type="button" onClick={() => (written.value = undefined)}>
                Drop it: back to what could be read last
              </button>
            </p>
          )}
        </>
      )}
      {cards.value.length > 0 && (
        <>
          {written.value !== undefined && !unread && <Issues of={issues} />}
          <div hidden={!!unread}>
            <h2>Try it</h2>
            <Trial
              elements={elements}
              relayId={relayId.value}
              variables={checked?.variables ?? {}}
              result={result}
              onTried={(result) => (tried.value = { text, result })}
            />
          </div>
          <h2>Use it</h2>
          <Finish
            key={relayId.value}
            elements={elements}
            relayId={relayId.value}
            problems={problems.length}
            obstacle={
              unread
                ? 'There is no body to paste until the JSON can be read.'
                : isOfDraft(refused)
                  ? `It would be refused: ${refused?.problem.detail}`
                  : undefined
            }
          />
        </>
      )}
    </>
  );
}

/** Said beside the rule of the whole chain: which actions name another. */
function OtherRules({ cards, relayId }: { cards: readonly Card[]; relayId: string }) {
  const { rules } = useCompany();
  const others = [...otherRules(cards, relayId)];
  if (others.length === 0) return null;
  return (
    <div class="note wait" role="alert">
      Not of this rule:
      <ul>
        {others.map(([own, places]) => (
          <li key={own}>
            action {places.join(', ')}, of{' '}
            {ruleOf({ rules }, own)
              ? `${ruleName({ rules }, own)}: put in a token of that rule by hand`
              : `${own}, which is no rule of this company`}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Draft {
  relayId: string;
  elements: Fields[];
  /** The JSON as it was written; absent: the cards are shown. */
  written?: string;
}

/** Kept by the browser's tab for as long as it is open: one goes to make a token, and comes back. */
function useDraft() {
  const { companyId, rules } = useCompany();
  const { query } = useLocation();
  const place = `relay-draft-${companyId}`;
  const kept = useMemo<Partial<Draft>>(() => JSON.parse(sessionStorage.getItem(place) ?? '{}'), [place]);
  const known = [query.relayId, kept.relayId].find((id) => ruleOf({ rules }, id));
  const relayId = useSignal(known ?? rules[0]?.relayId ?? '');
  const cards = useSignal<Card[]>(useMemo(() => cardsOf(kept.elements ?? [], relayId.value), [kept]));
  const written = useSignal(kept.written);
  useEffect(() => {
    const draft: Draft = {
      relayId: relayId.value,
      elements: cards.value.map(({ fields }) => fields),
      written: written.value && withoutTokens(written.value),
    };
    sessionStorage.setItem(place, JSON.stringify(draft));
  }, [relayId.value, cards.value, written.value]);
  return { relayId, cards, written };
}

/** Whether it was not read at all for what is in it, rather than for the moment. */
const isOfDraft = (refused: Refused | undefined) => [400, 413].includes(refused?.problem.status ?? 0);

const pauseMs = 500;

/** What the server says of it, a moment after it was last changed. */
function useChecked(elements: Fields[], text: string) {
  const { companyId } = useCompany();
  const [checked, refused] = [useSignal<Composed | undefined>(undefined), useSignal<Refused | undefined>(undefined)];
  useEffect(() => {
    let isOld = false;
    const check = async () => {
      try {
        const heard = await ask<Composed>('POST', path`/co/${companyId}/chains/compose`, { elements });
        if (!isOld) [checked.value, refused.value] = [heard, undefined];
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (isOld) return;
        refused.value = error;
        if (isOfDraft(error)) checked.value = undefined;
      }
    };
    const timer = setTimeout(() => void check(), pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { checked: checked.value, refused: refused.value };
}

interface AsCardsProps {
  cards: Signal<Card[]>;
  composer: Composer;
  issues: Composed | undefined;
  outcomes: Composed['actions'];
}

function AsCards({ cards, composer, issues, outcomes }: AsCardsProps) {
  const { value: written } = cards;
  const focusOn = (card: Card | undefined) => setTimeout(() => document.getElementById(card ? cardId(card) : 'add')?.focus()); // Once it is there.
  const add = (fields: Fields) => {
    const card = newCard(fields);
    cards.value = [...written, card];
    announce(`Action ${written.length} added`);
    focusOn(card);
  };
  const move = (place: number, by: -1 | 1) => {
    const to = place + by;
    if (to < 0 || to >= written.length) return announce(by < 0 ? 'It is the first already' : 'It is the last already');
    const focused = document.activeElement;
    cards.value = moved(written, place, by);
    announce(`Moved to place ${to + 1} of ${written.length}`);
    // What is moved in the page loses the focus.
    setTimeout(() => focused instanceof HTMLElement && focused.focus());
  };
  const remove = (place: number) => {
    const left = written.filter((_, other) => other !== place);
    cards.value = left;
    announce(`Action ${place} removed`);
    focusOn(left[place] ?? left.at(-1));
  };
  const duplicate = (place: number) => {
    const copy = newCard({ ...written[place]?.fields });
    cards.value = written.toSpliced(place + 1, 0, copy);
    announce(`Duplicated, as action ${place + 1}`);
    focusOn(copy);
  };
  return (
    <>
      {written.length === 0 && (
        <div class="card">
          <p>Add the first action, or begin with an example:</p>
          <ul>
            {composer.examples.map(({ summary, elements }) => (
              <li key={summary}>
                <button type="button" onClick={() => (cards.value = cardsOf(elements, ''))}>
                  {summary}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      <UsualDelays />
      <div class="composer">
        {written.length > 0 && <Rail cards={written} outcomes={outcomes} />}
        <div>
          {written.map((card, place) => (
            <ActionCard
              key={card.key}
              card={card}
              place={place}
              count={written.length}
              composer={composer}
              problems={remarksAt(issues?.problems, place)}
              remarks={[...remarksAt(issues?.warnings, place), ...remarksAt(issues?.hints, place)]}
              timestamp={timestampAt(issues, place)}
              outcome={outcomes?.[place]}
              onChange={(fields) => (cards.value = cards.value.map((one) => (one.key === card.key ? { ...one, fields } : one)))}
              onAdd={add}
              onMove={(by) => move(place, by)}
              onDuplicate={() => duplicate(place)}
              onRemove={() => remove(place)}
            />
          ))}
          <p class="row" id="add" tabIndex={-1}>
            {composer.actions.map(({ name, description }) => (
              <button
                key={name}
                type="button"
                title={description}
                onClick={() => add({ action: name, platformAssignmentId: '${assignment_id}' })}
              >
                Add: {actionWords[name] ?? 'an action'} ({name})
              </button>
            ))}
          </p>
          {written.length > 1 && <p class="soft small">Alt with the arrow up or down moves the card that one is in.</p>}
        </div>
      </div>
    </>
  );
}

/** What is due at once in its order, then what is delayed. */
function Rail({ cards, outcomes }: { cards: readonly Card[]; outcomes: Composed['actions'] }) {
  return (
    <nav aria-label="When the actions are due">
      <ol class="rail">
        {railOf(cards).map(({ delay, places }) => (
          <li key={delay} class="busy">
            <strong>
              {delay === undefined
                ? 'At a time that is not known here'
                : delay === 0
                  ? 'At once'
                  : `After ${durationText(delay)}`}
            </strong>
            <ul class="plain">
              {places.map((place) => {
                const card = cards[place];
                const outcome = outcomes?.[place]?.outcome;
                return (
                  card && (
                    <li key={card.key}>
                      <a href={`#${cardId(card)}`}>{cardTitle(card, place)}</a>{' '}
                      {outcome && <span class={`badge ${forecastTone(outcome)}`}>{outcome.replaceAll('-', ' ')}</span>}
                    </li>
                  )
                );
              })}
            </ul>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function remarksAt(issues: Composed['hints'] | undefined, place: number): Remark[] {
  return (issues ?? []).flatMap(({ pointer, ...said }) => {
    const [, index, ...field] = pointer.split('/');
    return index === String(place) ? [{ field: field.join('/'), ...said }] : [];
  });
}

function timestampAt(issues: Composed | undefined, place: number): string | undefined {
  const { detail, written } = issues?.timestamps.find(({ pointer }) => pointer.startsWith(`/${place}/`)) ?? {};
  return detail && (written ? `It would be written as ${detail}.` : `It could not be written: ${detail}.`);
}

function Issues({ of: issues }: { of: Composed | undefined }) {
  const { problems = [], warnings = [], hints = [] } = issues ?? {};
  const listed = [
    ...problems.map((one) => ({ ...one, tone: 'error' })),
    ...[...warnings, ...hints].map((one) => ({ ...one, tone: '' })),
  ];
  if (listed.length === 0) return null;
  return (
    <div class={problems.length > 0 ? 'note bad' : 'note wait'}>
      {problems.length > 0 ? `It would be refused: ${counted(problems.length, 'problem')}.` : 'Worth knowing:'}
      <ul>
        {listed.map(({ pointer, detail, tone }) => (
          <li key={pointer + detail} class={tone}>
            <code>{pointer || '/'}</code> {detail}
          </li>
        ))}
      </ul>
    </div>
  );
}
