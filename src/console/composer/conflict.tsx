/** Two tabs or people have changed the same draft: shows both, and lets the person choose. */

import { Button } from '../ui/buttons.js';
import { Dialog } from '../ui/dialog.js';
import { Time } from '../ui/text.js';
import { Differences } from './differences.js';
import { type Draft, draftOf } from './draft.js';
import { sentenceOf, whenWords } from './sentences.js';
import type { Editing } from './use-draft.js';

export function ConflictDialog({ editing, onClose }: { editing: Editing; onClose(): void }) {
  const { conflict, draft, choose } = editing;
  if (!conflict) return null;
  const { stored, diff } = conflict;
  return (
    <Dialog title="Somebody else has changed this draft" onClose={onClose}>
      <p>
        {stored.updatedBy ?? 'Another tab'} saved another draft
        <Time before=" at " at={stored.updatedAt} />. Your last changes are not saved. Choose which draft to keep.
      </p>
      {diff && (
        <>
          <h3>What your draft changes</h3>
          <Differences of={diff} />
        </>
      )}
      <div class="broken">
        <section>
          <h3>The other draft</h3>
          <Sentences of={draftOf(stored.contents)} />
        </section>
        <section>
          <h3>Your draft</h3>
          <Sentences of={draft} />
        </section>
      </div>
      <p class="row">
        <Button class="main" onClick={() => choose('mine')}>
          Keep mine
        </Button>
        <Button onClick={() => choose('theirs')}>Use the other</Button>
      </p>
      <p class="soft small">You can undo this choice.</p>
    </Dialog>
  );
}

/** The contents as sentences, in the order of the steps. */
export function Sentences({ of: { when, cards } }: { of: Draft }) {
  return (
    <>
      <p>{whenWords(when)}:</p>
      <ol>
        {cards.map(({ key, fields }) => (
          <li key={key}>{sentenceOf(fields)}</li>
        ))}
      </ol>
    </>
  );
}
