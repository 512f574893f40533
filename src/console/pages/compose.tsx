/** The composer shows a chain as cards or as JSON, with its mistakes, a test without effects, and the body to paste. */

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
  type Delay,
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
import { Area, Button, Known, ProblemNote, Select } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { ruleName, ruleOf, useCompany } from '../session.js';
import { durationText } from '../when.js';
import { actionWords, counted, forecastTone, forecastWords, reminderWords } from '../words.js';

export function ComposePage() {
  const { companyId, rules } = useCompany();
  const composer = useResource<Composer>(path`/co/${companyId}/chains/compose`, seldom);
  return (
    <Page title="Compose" about="Build a chain, test it safely, then copy it into your webhook.">
      {rules.length === 0 ? (
        <p class="card">
          A chain needs a rule. <a href={pageOf.rules(companyId)}>Create a rule</a> first.
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
  const mistake = written.value === undefined ? undefined : readElements(written.value).error;
  const { checked, isOutdated, refused } = useChecked(elements, text);
  /** The result of the last test. After a change of the draft, the result is not valid any more. */
  const tried = useSignal<{ text: string; result: Composed } | undefined>(undefined);
  const result = tried.value?.text === text ? tried.value.result : undefined;
  const issues = result ?? checked;
  const problems = issues?.problems ?? [];
  const refusal = isOfDraft(refused) ? `The relay would refuse this chain: ${refused?.problem.detail}` : undefined;
  const choose = (chosen: string) => {
    relayId.value = chosen;
    // Also changes the rule in the address. When the user comes back to this page, the address selects the same rule.
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
    if (mistake) announce('Fix the JSON first, then show the cards');
    else written.value = undefined;
  };
  return (
    <>
      <div class="filter">
        <Select
          label="Rule"
          hint="The rule decides who gets a notice if the chain fails."
          value={relayId.value}
          onPick={(picked) => {
            choose(picked);
            if (written.value !== undefined && !mistake) write();
          }}
          options={rules.map(({ relayId, name, enabled }) => [relayId, `${name} (${relayId})${enabled ? '' : ', disabled'}`])}
        />
        <fieldset>
          <legend class="unseen">View</legend>
          <div class="row">
            <Button aria-pressed={written.value === undefined} aria-disabled={!!mistake} onClick={showCards}>
              Cards
            </Button>
            <Button aria-pressed={written.value !== undefined} onClick={() => written.value ?? write()}>
              JSON
            </Button>
          </div>
        </fieldset>
      </div>
      {!mistake && <OtherRules cards={cards.value} relayId={relayId.value} />}
      <ProblemNote refused={refused} />
      <h2>Actions</h2>
      {written.value === undefined ? (
        <AsCards
          cards={cards}
          composer={composer}
          issues={issues}
          isOutdated={!result && isOutdated}
          outcomes={result?.actions}
        />
      ) : (
        <>
          <Area
            label="Chain as JSON"
            hint="The draft does not keep tokens. Your changes also appear on the cards."
            problem={mistake && `This ${mistake}. Fix the JSON before you test or use the chain`}
            class="json"
            spellcheck={false}
            rows={24}
            value={written.value}
            onInput={(event) => change(event.currentTarget.value)}
          />
          {mistake && (
            <p>
              <Button onClick={() => (written.value = undefined)}>Undo: go back to the last valid JSON</Button>
            </p>
          )}
        </>
      )}
      {cards.value.length > 0 && (
        <>
          {written.value !== undefined && !mistake && <Issues of={issues} />}
          <div hidden={!!mistake}>
            <h2>Test</h2>
            <Trial
              elements={elements}
              relayId={relayId.value}
              variables={checked?.variables ?? {}}
              result={result}
              onTried={(result) => (tried.value = { text, result })}
            />
          </div>
          <h2>Copy to the webhook</h2>
          <Finish
            key={relayId.value}
            elements={elements}
            relayId={relayId.value}
            problems={problems.length}
            obstacle={mistake ? 'Fix the JSON first. Then the body to paste is shown here.' : refusal}
          />
        </>
      )}
    </>
  );
}

function OtherRules({ cards, relayId }: { cards: readonly Card[]; relayId: string }) {
  const { rules } = useCompany();
  const others = [...otherRules(cards, relayId)];
  if (others.length === 0) return null;
  return (
    <div class="note wait" role="alert">
      Some actions belong to other rules:
      <ul>
        {others.map(([own, places]) => (
          <li key={own}>
            action {places.join(', ')}:{' '}
            {ruleOf({ rules }, own)
              ? `rule ${ruleName({ rules }, own)}. Enter a token of that rule in the body that you paste`
              : `rule ${own} does not exist in this company`}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Draft {
  relayId: string;
  elements: Fields[];
  /** The JSON as the user typed it. Absent if the page shows the cards. */
  written?: string;
}

/** Keeps the draft in the browser tab, because users leave the page to create a token, then come back. */
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

/** Whether the server refused the draft because of its content, and not, for example, because of a rate limit. */
const isOfDraft = (refused: Refused | undefined) => [400, 413].includes(refused?.problem.status ?? 0);

const pauseMs = 500;

/** The server checks the draft half a second after the last change. */
function useChecked(elements: Fields[], text: string) {
  const { companyId } = useCompany();
  const [checked, refused] = [useSignal<Composed | undefined>(undefined), useSignal<Refused | undefined>(undefined)];
  const checkedText = useSignal('');
  useEffect(() => {
    let isOld = false;
    const check = async () => {
      try {
        const heard = await ask<Composed>('POST', path`/co/${companyId}/chains/compose`, { elements });
        if (!isOld) [checked.value, checkedText.value, refused.value] = [heard, text, undefined];
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
  return { checked: checked.value, isOutdated: checkedText.value !== text, refused: refused.value };
}

interface AsCardsProps {
  cards: Signal<Card[]>;
  composer: Composer;
  issues: Composed | undefined;
  /** Whether the issues are from an earlier draft. */
  isOutdated: boolean;
  outcomes: Composed['actions'];
}

function AsCards({ cards, composer, issues, isOutdated, outcomes }: AsCardsProps) {
  const { value: written } = cards;
  const focusOn = (card: Card | undefined) => setTimeout(() => document.getElementById(card ? cardId(card) : 'add')?.focus()); // waits for the render
  const add = (fields: Fields) => {
    const card = newCard(fields);
    cards.value = [...written, card];
    announce(`Action ${written.length} added`);
    focusOn(card);
  };
  const move = (place: number, by: -1 | 1) => {
    const to = place + by;
    if (to < 0 || to >= written.length)
      return announce(by < 0 ? 'This is already the first action' : 'This is already the last action');
    const focused = document.activeElement;
    cards.value = moved(written, place, by);
    announce(`Action ${place} is now action ${to}`);
    // A moved element loses the focus.
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
    announce(`Duplicated as action ${place + 1}`);
    focusOn(copy);
  };
  return (
    <>
      {written.length === 0 && (
        <div class="card">
          <p>Add your first action, or start with an example:</p>
          <ul>
            {composer.examples.map(({ summary, elements }) => (
              <li key={summary}>
                <Button onClick={() => (cards.value = cardsOf(elements, ''))}>{summary}</Button>
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
              isOutdated={isOutdated}
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
              <Button
                key={name}
                title={description}
                onClick={() => add({ action: name, platformAssignmentId: '${assignment_id}' })}
              >
                Add: {actionWords[name] ?? 'an action'} ({name})
              </Button>
            ))}
          </p>
          {written.length > 1 && <p class="soft small">Press Alt+↑ or Alt+↓ to move the card that has the focus.</p>}
        </div>
      </div>
    </>
  );
}

function delayWords(delay: Delay): string {
  if (typeof delay === 'number') return delay === 0 ? 'Immediately' : `After ${durationText(delay)}`;
  return delay === 'event' ? 'The event sets the delay' : 'The delay is not valid';
}

/** The timeline: the immediate actions in order, then the delayed actions. */
function Rail({ cards, outcomes }: { cards: readonly Card[]; outcomes: Composed['actions'] }) {
  return (
    <nav aria-label="Timeline of the actions">
      <ol class="rail">
        {railOf(cards).map(({ delay, places }) => (
          <li key={delay} class="busy">
            <strong>{delayWords(delay)}</strong>
            <ul class="plain">
              {places.map((place) => {
                const card = cards[place];
                const outcome = outcomes?.[place]?.outcome;
                return (
                  card && (
                    <li key={card.key}>
                      <a href={`#${cardId(card)}`}>{cardTitle(card, place)}</a>{' '}
                      {outcome && <span class={`badge ${forecastTone[outcome]}`}>{forecastWords(outcome)}</span>}
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
  return detail && (written ? `Example: ${detail}.` : `This format does not work: ${detail}.`);
}

function Issues({ of: issues }: { of: Composed | undefined }) {
  const { problems = [], warnings = [], hints = [] } = issues ?? {};
  const listed = [
    ...problems.map((one) => ({ ...one, tone: 'error' })),
    ...warnings.map((one) => ({ ...one, tone: '' })),
    ...hints.map(({ pointer, detail, add }) => ({ pointer, detail: add ? reminderWords : detail, tone: '' })),
  ];
  if (listed.length === 0) return null;
  return (
    <div class={problems.length > 0 ? 'note bad' : 'note wait'}>
      {problems.length > 0 ? `The relay would refuse this chain: ${counted(problems.length, 'problem')}.` : 'Notes:'}
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
