/** The composer writes the draft of a rule: its steps as cards or as JSON, a rehearsal, and the way to publish or to copy it. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Composer as Actions, SystemNames } from '../../contract/dry-run.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { announce } from '../frame.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Button } from '../ui/buttons.js';
import { Dialog } from '../ui/dialog.js';
import { ProblemNote } from '../ui/known.js';
import { ConflictDialog } from './conflict.js';
import { EventSide } from './event-side.js';
import { Finish } from './finish.js';
import { JsonView } from './json-view.js';
import { KnowledgeContext, type Remark } from './knowledge.js';
import { useLastEvents } from './last-events.js';
import { inSteps, placeText } from './plain-words.js';
import { WithTrial } from './publish.js';
import { Steps } from './steps.js';
import { Timeline } from './timeline.js';
import { TriedView } from './tried.js';
import type { Editing } from './use-draft.js';
import { useChoices, useRehearsal, type Way } from './use-rehearsal.js';

interface ComposerProps {
  relayId: string;
  editing: Editing;
  actions: Actions;
  /** The last version, if the rule has one. */
  published: number | undefined;
  onPublished(): void;
}

const wayWords: Record<Way, string> = {
  event: 'The event as it is (recommended)',
  list: 'A text that you paste into its webhook',
};

export function Composer({ relayId, editing, actions, published, onPublished }: ComposerProps) {
  const { companyId } = useCompany();
  const { draft, change } = editing;
  const names = useResource<SystemNames>(path`/co/${companyId}/chains/compose/names`, seldom).data.value;
  const way = useWay(relayId);
  const isList = way.value === 'list';
  const isJson = useSignal(false);
  const dialog = useSignal<'try' | 'publish' | 'conflict' | undefined>(undefined);
  const choices = useChoices();
  const events = useLastEvents(relayId, choices.eventId.value);
  const [newest] = events.events;
  const event = events.chosen ? { eventId: events.chosen.eventId } : newest && { event: newest };
  const rehearsal = useRehearsal({ relayId, draft, way: way.value, choices, event });
  const { composed, isOutdated } = rehearsal;
  const { problems: found, warnings } = isList ? (composed ?? { problems: [], warnings: [] }) : editing.issues;
  const timestamps = (composed?.timestamps ?? []).map(({ pointer, detail, written }) => ({
    pointer,
    detail: written ? `for example ${detail}` : `this format does not work: ${detail}`,
  }));
  // A list has the pointers `/0/body`, contents have `/actions/0/body`.
  const placed = (remark: Remark) => (isList ? { ...remark, pointer: `/actions${remark.pointer}` } : remark);
  const problems = found.map(placed);
  const hints = [...warnings, ...(composed?.hints ?? []), ...timestamps].map(placed);
  useEffect(() => {
    if (editing.conflict) dialog.value = 'conflict';
  }, [editing.conflict]);
  const keys = (event: KeyboardEvent) => {
    const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (isText || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
    event.preventDefault();
    if (event.shiftKey) editing.redo();
    else editing.undo();
  };
  const close = () => (dialog.value = undefined);
  const publishing = path`/admin/companies/${companyId}/rules/${relayId}/publish`;
  /** The trial is about the stored draft, so the draft is saved first. */
  const openSaved = async (which: 'try' | 'publish') => {
    if (await editing.save()) dialog.value = which;
    else announce('The draft is not saved yet. Try again');
  };
  const elsewhere = problems.filter(
    ({ pointer }) => !/^\/(actions\/\d|variables\/|when)/.test(pointer) && draft.cards.length > 0,
  );
  return (
    <KnowledgeContext.Provider
      value={{
        ...{ relayId, draft, change, problems, hints, isOutdated },
        way: way.value,
        events: events.events,
        assignment: composed?.assignment,
        composer: actions,
        names: names ?? { groups: [], fields: [] },
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only a shortcut for the buttons below */}
      <div onKeyDown={keys}>
        <p class="row bar">
          <Button aria-disabled={!editing.canUndo} onClick={editing.undo}>
            Undo
          </Button>
          <Button aria-disabled={!editing.canRedo} onClick={editing.redo}>
            Redo
          </Button>
          <Button aria-pressed={!isJson.value} onClick={() => (isJson.value = false)}>
            Steps
          </Button>
          <Button aria-pressed={isJson.value} onClick={() => (isJson.value = true)}>
            JSON
          </Button>
          <SaveState editing={editing} onCompare={() => (dialog.value = 'conflict')} />
          {!isList && (
            <>
              <Button onClick={() => void openSaved('try')}>Try on the last events…</Button>
              <Button
                class="main"
                aria-disabled={problems.length > 0}
                onClick={() => {
                  if (publishable(draft.cards.length, problems.length)) void openSaved('publish');
                }}
              >
                Publish…
              </Button>
            </>
          )}
        </p>
        <ProblemNote refused={editing.refused} />
        <fieldset class="row ways">
          <legend>What does your platform send?</legend>
          {Object.entries(wayWords).map(([value, words]) => (
            <label key={value} class="row">
              <input type="radio" name="way" checked={way.value === value} onChange={() => (way.value = value as Way)} />
              {words}
            </label>
          ))}
        </fieldset>
        <div class="composer">
          <div>
            {!isList && !isJson.value && <EventSide example={events.chosen ? undefined : events.example} />}
            {isJson.value ? <JsonView onList={() => (way.value = 'list')} /> : <Steps />}
            {elsewhere.map(({ pointer, detail }) => (
              <p key={pointer + detail} class="note bad">
                {placeText(pointer)} {inSteps(detail)}.
              </p>
            ))}
          </div>
          {draft.cards.length > 0 && <Timeline {...{ choices, rehearsal }} events={events.listed} />}
        </div>
        {draft.cards.length > 0 && <Finish published={published} refused={rehearsal.refused} />}
        {dialog.value === 'try' && (
          <Dialog title="Try on the last events" onClose={close}>
            <p>Compares the draft with the published version. Nothing is sent.</p>
            <TriedView relayId={relayId} version="draft" />
            <p class="row">
              <Button onClick={close}>Back</Button>
            </p>
          </Dialog>
        )}
        {dialog.value === 'publish' && (
          <WithTrial
            {...{ relayId, onPublished }}
            title="Publish the draft?"
            verb="Publish"
            about="New events run the new version within two seconds. Chains that run now keep their version."
            version="draft"
            publish={(note) => ask('POST', publishing, { revision: editing.revision, ...note })}
            onClose={close}
          />
        )}
        {dialog.value === 'conflict' && <ConflictDialog editing={editing} onClose={close} />}
      </div>
    </KnowledgeContext.Provider>
  );
}

function publishable(steps: number, problems: number): boolean {
  if (steps === 0) announce('Add a step first');
  else if (problems > 0) announce('Correct the mistakes first');
  return steps > 0 && problems === 0;
}

/** Remembers in this browser how the sender of a rule calls the relay. */
function useWay(relayId: string): Signal<Way> {
  const place = `relay-way-${relayId}`;
  const way = useSignal<Way>(localStorage.getItem(place) === 'list' ? 'list' : 'event');
  useEffect(() => localStorage.setItem(place, way.value), [way.value]);
  return way;
}

function SaveState({ editing: { isSaved, conflict, refused, revision }, onCompare }: { editing: Editing; onCompare(): void }) {
  if (conflict)
    return (
      <span class="error">
        Not saved: somebody else has changed this draft. <Button onClick={onCompare}>Compare…</Button>
      </span>
    );
  const words = !isSaved ? (refused ? 'Not saved yet' : 'Saving…') : revision > 0 ? 'Draft saved' : '';
  return <span class={refused && !isSaved ? 'error grows' : 'soft grows'}>{words}</span>;
}
