/** Publishes the draft or an old version. First shows what would change for the last events. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Tried, Version } from '../../contract/rule-contents.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { Area, Button, Confirm, Dialog, NotReady, useDeed } from '../parts.js';
import { useCompany } from '../session.js';
import { TriedView } from './tried.js';
import type { Editing } from './use-draft.js';

interface WithTrialProps<Published> {
  title: string;
  verb: string;
  about: string;
  relayId: string;
  version: 'draft' | number;
  publish(note: { note?: string }): Promise<Published>;
  onClose(): void;
  onPublished(published: Published): void;
}

export function WithTrial<Published>({
  verb,
  about,
  relayId,
  version,
  publish,
  onPublished,
  ...dialog
}: WithTrialProps<Published>) {
  const [tried, note] = [useSignal<Tried | undefined>(undefined), useSignal('')];
  const deed = useDeed();
  const confirmed = async () => {
    let published: Published | undefined;
    const run = async () => {
      published = await publish(note.value.trim() ? { note: note.value.trim() } : {});
    };
    if (!(await deed.run(run, 'Published')) || published === undefined) return;
    dialog.onClose();
    onPublished(published);
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

interface DraftDialogProps {
  relayId: string;
  editing: Editing;
  onClose(): void;
}

/** The trial is about the stored draft, so the draft is saved first. */
function AfterSave({
  title,
  editing,
  onClose,
  children,
}: Omit<DraftDialogProps, 'relayId'> & { title: string; children: ComponentChildren }) {
  const saved = useSignal<boolean | undefined>(undefined);
  useEffect(() => {
    void editing.save().then((isSaved) => (saved.value = isSaved));
  }, []);
  if (saved.value) return children;
  return (
    <NotReady title={title} refused={editing.refused} onClose={onClose}>
      {saved.value === false ? 'The draft is not saved yet. Go back and try again.' : 'Saving the draft…'}
    </NotReady>
  );
}

export function TryDialog({ relayId, ...props }: DraftDialogProps) {
  const title = 'Try on the last events';
  return (
    <AfterSave title={title} {...props}>
      <Dialog title={title} onClose={props.onClose}>
        <p>Compares the draft with the published version. Nothing is sent.</p>
        <TriedView relayId={relayId} version="draft" />
        <p class="row">
          <Button onClick={props.onClose}>Back</Button>
        </p>
      </Dialog>
    </AfterSave>
  );
}

export function PublishDialog({ relayId, onPublished, ...props }: DraftDialogProps & { onPublished(version: Version): void }) {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/publish`;
  const title = 'Publish the draft?';
  return (
    <AfterSave title={title} {...props}>
      <WithTrial
        title={title}
        verb="Publish"
        about="New events run the new version within two seconds. Chains that run now keep their version."
        relayId={relayId}
        version="draft"
        publish={(note) => ask<Version>('POST', at, { revision: props.editing.revision, ...note })}
        onClose={props.onClose}
        onPublished={onPublished}
      />
    </AfterSave>
  );
}
