/** Publishes the draft, or an old version again. First shows what would change for the last events. */

import { useSignal } from '@preact/signals';
import type { Tried } from '../../contract/rule-contents.js';
import { useDeed } from '../ui/buttons.js';
import { Confirm } from '../ui/dialog.js';
import { Area } from '../ui/fields.js';
import { TriedView } from './tried.js';

interface WithTrialProps {
  title: string;
  verb: string;
  about: string;
  relayId: string;
  version: 'draft' | number;
  publish(note: { note?: string }): Promise<unknown>;
  onClose(): void;
  onPublished(): void;
}

export function WithTrial({ verb, about, relayId, version, publish, onPublished, ...dialog }: WithTrialProps) {
  const [tried, note] = [useSignal<Tried | undefined>(undefined), useSignal('')];
  const deed = useDeed();
  const confirmed = async () => {
    const why = note.value.trim();
    const run = async () => void (await publish(why ? { note: why } : {}));
    if (!(await deed.run(run, 'Published'))) return;
    dialog.onClose();
    onPublished();
  };
  return (
    <Confirm {...dialog} {...deed} verb={tried.value ? verb : `${verb} without the trial`} onConfirm={() => void confirmed()}>
      <p>{about}</p>
      <TriedView relayId={relayId} version={version} onTried={(result) => (tried.value = result)} />
      <Area
        label="Why? (optional)"
        hint="The list of versions shows this note."
        rows={2}
        maxLength={1000}
        value={note.value}
        onText={(text) => (note.value = text)}
      />
    </Confirm>
  );
}
