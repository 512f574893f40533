/** Makes the draft of a rule from the lists that a webhook has sent. Values that vary between the lists become variables. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { z } from 'zod';
import type { ChainList } from '../../contract/chain-resource.js';
import type { DraftResponse, fromListsResponse } from '../../contract/rule-contents.js';
import { pageOf, path, query } from '../addresses.js';
import { ask } from '../api.js';
import { Sentences } from '../composer/conflict.js';
import { draftOf } from '../composer/draft.js';
import { useCompany } from '../session.js';
import { useDeed } from '../ui/buttons.js';
import { Confirm, NotReady, Opener } from '../ui/dialog.js';
import { FieldList } from '../ui/text.js';

interface MakeRuleProps {
  relayId: string;
  chainId: string;
}

export function MakeRule(props: MakeRuleProps) {
  return <Opener opens="Make this a rule of ours">{(onClose) => <MakeRuleDialog {...props} onClose={onClose} />}</Opener>;
}

function MakeRuleDialog({ relayId, chainId, onClose }: MakeRuleProps & { onClose(): void }) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/draft`;
  const made = useSignal<z.infer<typeof fromListsResponse> | undefined>(undefined);
  const stored = useSignal<DraftResponse | undefined>(undefined);
  const deed = useDeed();
  const title = 'Make this a rule of ours';
  useEffect(() => {
    void deed.run(async () => {
      const { items } = await ask<ChainList>('GET', path`/co/${companyId}/chains` + query({ relayId, limit: '20' }));
      const others = items.map((chain) => chain.chainId).filter((other) => other !== chainId);
      made.value = await ask('POST', `${at}/from-lists`, { chainIds: [chainId, ...others] });
      stored.value = await ask<DraftResponse>('GET', at);
    });
  }, []);
  const [{ value: draft }, { value: read }] = [stored, made];
  if (!draft || !read)
    return (
      <NotReady title={title} refused={deed.refused} onClose={onClose}>
        Reading the last requests…
      </NotReady>
    );
  const values = Object.entries(read.values).map(([name, values]): [string, unknown] => [
    name.replaceAll('_', ' '),
    values.slice(0, 3),
  ]);
  const save = () =>
    deed.run(async () => {
      await ask('PUT', at, { revision: draft.revision, contents: read.contents });
      route(pageOf.draft(companyId, relayId));
    });
  return (
    <Confirm {...deed} title={title} verb="Use as the draft" onClose={onClose} onConfirm={() => void save()}>
      <Sentences of={draftOf(read.contents)} />
      {values.length > 0 && (
        <>
          <p>These values vary between the last requests, so the rule takes them from the event:</p>
          <FieldList fields={values} />
        </>
      )}
      {draft.contents && <p class="note wait">This replaces the draft of the rule. The published version stays.</p>}
      <p class="soft small">Nothing is published. You can change the draft, and try it.</p>
    </Confirm>
  );
}
