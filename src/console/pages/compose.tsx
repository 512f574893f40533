/** The composer: a chain as cards beside a time rail, or as JSON; what is wrong with it, what it would come to, and the body to paste. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Composed, Composer } from '../../contract/dry-run.js';
import { pageOf, path } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { ActionCard, cardId, cardTitle, type Remark } from '../composer/card.js';
import { type Card, cardsOf, elementsOf, type Fields, moved, newCard, railOf, readElements } from '../composer/draft.js';
import { Finish } from '../composer/finish.js';
import { Trial } from '../composer/trial.js';
import { announce, Page } from '../frame.js';
import { Field, JsonField, Known, ProblemNote } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
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
  const { query } = useLocation();
  const relayId = useSignal(rules.find((rule) => rule.relayId === query.relayId)?.relayId ?? rules[0]?.relayId ?? '');
  const cards = useDraft(companyId, relayId.value);
  const isJson = useSignal(false);
  const elements = elementsOf(cards.value, relayId.value);
  const text = JSON.stringify(elements);
  const { checked, refused } = useChecked(elements, text);
  /** What a trial came to counts until something is changed. */
  const tried = useSignal<{ text: string; result: Composed } | undefined>(undefined);
  const result = tried.value?.text === text ? tried.value.result : undefined;
  const issues = result ?? checked;
  const problems = issues?.problems ?? [];
  const use = (read: readonly Fields[]) => {
    const [first] = read;
    const named = rules.find((rule) => rule.relayId === first?.relayId);
    if (named) relayId.value = named.relayId;
    cards.value = cardsOf(read, relayId.value);
  };
  return (
    <>
      <div class="filter">
        <Field label="Rule" hint="Whose policy and contacts it runs under.">
          {(ids) => (
            <select {...ids} value={relayId.value} onChange={(event) => (relayId.value = event.currentTarget.value)}>
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
            <button type="button" aria-pressed={!isJson.value} onClick={() => (isJson.value = false)}>
              Cards
            </button>
            <button type="button" aria-pressed={isJson.value} onClick={() => (isJson.value = true)}>
              JSON
            </button>
          </div>
        </fieldset>
      </div>
      <ProblemNote refused={refused} />
      <h2>Its actions</h2>
      {isJson.value ? (
        <AsJson elements={elements} onRead={use} />
      ) : (
        <AsCards cards={cards} composer={composer} issues={issues} outcomes={result?.actions} />
      )}
      {cards.value.length > 0 && (
        <>
          {isJson.value && <Issues of={issues} />}
          <h2>Try it</h2>
          <Trial
            elements={elements}
            relayId={relayId.value}
            variables={checked?.variables ?? {}}
            result={result}
            onTried={(result) => (tried.value = { text, result })}
          />
          <h2>Use it</h2>
          <Finish key={relayId.value} elements={elements} relayId={relayId.value} problems={problems.length} />
        </>
      )}
    </>
  );
}

/** Kept by the browser's tab for as long as it is open: one goes to make a token, and comes back. */
function useDraft(companyId: string, relayId: string): Signal<Card[]> {
  const place = `relay-draft-${companyId}`;
  const kept = useMemo(() => readElements(sessionStorage.getItem(place) ?? '[]').elements ?? [], [place]);
  const cards = useSignal<Card[]>(useMemo(() => cardsOf(kept, relayId), [kept]));
  useEffect(() => sessionStorage.setItem(place, JSON.stringify(cards.value.map(({ fields }) => fields))), [cards.value]);
  return cards;
}

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
        if (!isOld) refused.value = error;
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
  const add = (action: string) => {
    const card = newCard({ action, platformAssignmentId: '${assignment_id}' });
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
              onMove={(by) => move(place, by)}
              onDuplicate={() => duplicate(place)}
              onRemove={() => remove(place)}
            />
          ))}
          <p class="row" id="add" tabIndex={-1}>
            {composer.actions.map(({ name, description }) => (
              <button key={name} type="button" title={description} onClick={() => add(name)}>
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

function remarksAt(issues: Composed['problems'] | undefined, place: number): Remark[] {
  return (issues ?? []).flatMap(({ pointer, detail }) => {
    const [, index, ...field] = pointer.split('/');
    return index === String(place) ? [{ field: field.join('/'), detail }] : [];
  });
}

function timestampAt(issues: Composed | undefined, place: number): string | undefined {
  const { detail, written } = issues?.timestamps.find(({ pointer }) => pointer.startsWith(`/${place}/`)) ?? {};
  return detail && (written ? `It would be written as ${detail}.` : `It could not be written: ${detail}.`);
}

/** Both ways: what is written here becomes the cards as soon as it can be read. */
function AsJson({ elements, onRead }: { elements: Fields[]; onRead(elements: readonly Fields[]): void }) {
  const text = useSignal(JSON.stringify(elements, undefined, 2));
  const error = useSignal<string | undefined>(undefined);
  const change = (written: string) => {
    text.value = written;
    const read = readElements(written);
    error.value = read.error;
    if (read.elements) onRead(read.elements);
  };
  return (
    <JsonField
      label="The chain as JSON"
      hint="Without tokens. What can be read is on the cards at once."
      problem={error.value}
      rows={24}
      text={text.value}
      onText={change}
    />
  );
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
