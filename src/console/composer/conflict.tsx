/** Two tabs or people have changed the same draft: shows both, and lets the person choose. */

import { Button, Dialog, Time } from '../ui/index.js';
import { Differences, Sentences } from './differences.js';
import { draftOf } from './draft.js';
import type { Editing } from './use-draft.js';

export function ConflictDialog({ editing, onClose }: { editing: Editing; onClose(): void }) {
  const { conflict, draft, choose } = editing;
  if (!conflict) return null;
  const { stored, diff } = conflict;
  const both = { 'The other draft': draftOf(stored.contents), 'Your draft': draft };
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
        {Object.entries(both).map(([title, one]) => (
          <section key={title}>
            <h3>{title}</h3>
            <Sentences of={one} />
          </section>
        ))}
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
