/** The composer writes the draft of a rule: its steps as cards or as JSON, a rehearsal, and the way to publish or to copy it. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { admin, announce, ask, co, pageOf, seldom, useCompany, useResource } from '../base.js';
import { Page } from '../frame.js';
import type { Composer as Actions, SystemNames } from '../types.js';
import { Button, Choice, Dialog, Known, LinkRow, Mistakes, ProblemNote, Time } from '../ui/index.js';
import { labelled, mistakeText } from '../words.js';
import { Differences, Sentences } from './differences.js';
import { draftOf } from './draft.js';
import { EventSide } from './event-side.js';
import { Finish } from './finish.js';
import { KnowledgeContext, type Remark, usualAssignments, type Way } from './knowledge.js';
import { unknownGroups } from './places.js';
import { JsonView, Steps } from './steps.js';
import { Timeline } from './timeline.js';
import { PublishDialog, useTrial } from './tried.js';
import { type Editing, useDraft } from './use-draft.js';
import { useRehearsal } from './use-rehearsal.js';

type ComposerProps = { relayId: string; editing: Editing; actions: Actions; onPublished(): void };

const wayWords = { event: 'The whole event (recommended)', list: 'A list of steps. Your platform sends this list to the relay' };

export function Composer({ relayId, editing, actions, onPublished }: ComposerProps) {
  const { draft, change, stored } = editing;
  const hasSteps = draft.cards.length > 0;
  const asked = useResource<SystemNames>(co`/chains/compose/names`, seldom);
  const names = asked.data.value ?? { groups: [], groupIds: [], fields: [] };
  const way = useSignal<Way>(localStorage.getItem(`relay-way-${relayId}`) === 'list' ? 'list' : 'event');
  useEffect(() => localStorage.setItem(`relay-way-${relayId}`, way.value), [way.value]);
  const isList = way.value === 'list';
  const isJson = useSignal(false);
  const dialog = useSignal<'try' | 'publish' | 'conflict' | undefined>(undefined);
  const rehearsal = useRehearsal(relayId, draft, way.value);
  const { composed, events, chosen, example, isOutdated } = rehearsal;
  const { problems: found, warnings } = isList ? (composed ?? { problems: [], warnings: [] }) : stored;
  const timestamps = (composed?.timestamps ?? []).map(({ pointer, detail, written }) => ({
    pointer,
    detail: written ? `with your format, the new value is “${detail}”` : `the relay cannot use this date: ${labelled(detail)}`,
  }));
  const placed = (remark: Remark) => ({ ...remark, pointer: remark.pointer.replace(/^\/(?=\d)/, '/actions/') });
  const problems = found.map(placed);
  const unknown = unknownGroups(draft.cards, names);
  const repeated = <Mistakes of={unknown} look="plain note wait" words={mistakeText} />;
  const hints = [...[...warnings, ...(composed?.hints ?? []), ...timestamps].map(placed), ...unknown];
  const elsewhere = problems.filter(({ pointer }) => !/^\/(actions\/\d|variables\/|when)/.test(pointer) && hasSteps);
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
  const [close, flip] = [() => (dialog.value = undefined), () => (isJson.value = !isJson.value)];
  /** The trial is about the stored draft, so the draft is saved first. */
  const openSaved = async (which: 'try' | 'publish') => {
    if (await editing.save()) dialog.value = which;
    else announce('The draft is not saved yet. Try again');
  };
  const publish = () => {
    if (!hasSteps) announce('Add a step first');
    else if (problems.length > 0) announce('Correct the mistakes first');
    else void openSaved('publish');
  };
  const known = { relayId, draft, change, problems, hints, way: way.value, composer: actions, isOutdated };
  const read = composed?.assignment ? [composed.assignment] : [];
  const seen = { event: events, assignment: [...read, ...usualAssignments], incomingValue: [] };
  return (
    <KnowledgeContext.Provider value={{ ...known, seen, names }}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only a shortcut for the buttons below */}
      <div onKeyDown={keys}>
        <p class="row bar">
          <Button {...{ 'aria-disabled': !editing.canUndo, onClick: editing.undo }}>Undo</Button>
          <Button {...{ 'aria-disabled': !editing.canRedo, onClick: editing.redo }}>Redo</Button>
          <Button {...{ 'aria-pressed': isJson.value, onClick: flip, children: 'JSON (for developers)' }} />
          <SaveState editing={editing} onCompare={() => (dialog.value = 'conflict')} />
          {!isList && <Button onClick={() => void openSaved('try')}>Try the draft on the last events…</Button>}
          {!isList && <Button {...{ class: 'main', 'aria-disabled': problems.length > 0, onClick: publish }}>Publish…</Button>}
        </p>
        <ProblemNote refused={editing.refused} />
        <Choice label="What does your platform send?" of={way as Signal<string>} options={Object.entries(wayWords)} />
        <div class="composer">
          <div>
            {!isList && !isJson.value && <EventSide example={chosen ? undefined : example} />}
            {isJson.value ? <JsonView onList={() => (way.value = 'list')} /> : <Steps />}
            <Mistakes of={elsewhere} look="plain note bad" words={mistakeText} />
          </div>
          {hasSteps && <Timeline rehearsal={rehearsal}>{repeated}</Timeline>}
        </div>
        {hasSteps && <Finish refused={rehearsal.refused} />}
        {dialog.value === 'try' && <TryDialog relayId={relayId} onClose={close} />}
        {dialog.value === 'publish' && (
          <PublishDialog
            {...{ relayId, onPublished, onClose: close, title: 'Publish the draft?', verb: 'Publish', version: 'draft' }}
            children={repeated}
            about="The relay begins to use the new version within two seconds. Chains that are already running keep their version."
            publish={(note) => ask('POST', admin`/rules/${relayId}/publish`, { revision: stored.revision, ...note })}
          />
        )}
        {dialog.value === 'conflict' && <ConflictDialog editing={editing} onClose={close} />}
      </div>
    </KnowledgeContext.Provider>
  );
}

function TryDialog({ relayId, onClose }: { relayId: string; onClose(): void }) {
  const [, shown] = useTrial(relayId, 'draft');
  return (
    <Dialog title="Try the draft on the last events" back="Back" onClose={onClose}>
      <p>The relay compares the draft with the published version. Nothing is sent.</p>
      {shown}
    </Dialog>
  );
}

function SaveState({ editing: { isSaved, conflict, refused, stored }, onCompare }: { editing: Editing; onCompare(): void }) {
  const compare = <Button onClick={onCompare}>Compare…</Button>;
  if (conflict) return <span class="error">Not saved: this draft was also changed elsewhere. {compare}</span>;
  const words = !isSaved ? (refused ? 'Not saved yet' : 'Saving…') : stored.revision > 0 ? 'Draft saved' : '';
  return <span class={refused && !isSaved ? 'error grows' : 'soft grows'}>{words}</span>;
}

export function DraftPage({ relayId }: { relayId: string }) {
  const name = useCompany().ruleOf(relayId);
  const { route } = useLocation();
  const actions = useResource<Actions>(co`/chains/compose`, seldom);
  const { stored, editing } = useDraft(relayId);
  const rule = pageOf.rule(relayId);
  const links = { 'The rule': rule, Versions: pageOf.versions(relayId), Events: pageOf.events(relayId) };
  return (
    <Page title={name ? `Edit the draft of “${name}”` : 'Edit the draft'} about={<LinkRow of={links} />}>
      <Known of={stored}>
        {() => (
          <Known of={actions}>
            {(known) => editing && <Composer {...{ relayId, editing }} actions={known} onPublished={() => route(rule)} />}
          </Known>
        )}
      </Known>
    </Page>
  );
}

export function ConflictDialog({ editing, onClose }: { editing: Editing; onClose(): void }) {
  const { conflict, draft, choose } = editing;
  if (!conflict) return null;
  const { stored, diff } = conflict;
  const both = { 'The other draft': draftOf(stored.contents), 'Your draft': draft };
  return (
    <Dialog title="This draft was also changed elsewhere" onClose={onClose}>
      <p>
        The other draft was saved by {stored.updatedBy ?? 'another tab'}
        <Time before=", " at={stored.updatedAt} />. Your last changes are not saved. Choose which draft to keep.
      </p>
      {diff && (
        <>
          <h3>Differences between the drafts</h3>
          <Differences of={diff} />
        </>
      )}
      <div class="broken">
        {Object.entries(both).map(([title, one]) => (
          <section key={title}>
            <h3>{title}</h3>
            <Sentences of={one} />
          </section>
        ))}
      </div>
      <p class="row">
        <Button {...{ class: 'main', onClick: () => choose('mine') }}>Keep your draft</Button>
        <Button onClick={() => choose('theirs')}>Use the other draft</Button>
      </p>
      <p class="soft small">You can undo this choice.</p>
    </Dialog>
  );
}
