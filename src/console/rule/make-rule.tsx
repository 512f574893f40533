/** Makes the draft of a rule from the lists that a webhook has sent. Values that vary between the lists become variables. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { ask, pageOf, path, query, useCompany } from '../base.js';
import { Sentences } from '../composer/differences.js';
import { draftOf } from '../composer/draft.js';
import { variableWords } from '../composer/plain-words.js';
import type { ChainList, DraftResponse, fromListsResponse, z } from '../types.js';
import { Confirm, FieldList, NotReady, Opener, useDeed } from '../ui/index.js';

interface MakeRuleProps {
  relayId: string;
  chainId: string;
}

const title = 'Make this a rule of ours';

export function MakeRule(props: MakeRuleProps) {
  return <Opener opens={title}>{(onClose) => <MakeRuleDialog {...props} onClose={onClose} />}</Opener>;
}

type Made = z.infer<typeof fromListsResponse> & { draft: DraftResponse };

function MakeRuleDialog({ relayId, chainId, onClose }: MakeRuleProps & { onClose(): void }) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  const at = path`/admin/companies/${companyId}/rules/${relayId}/draft`;
  const made = useSignal<Made | undefined>(undefined);
  const deed = useDeed();
  useEffect(() => {
    void deed.run(async () => {
      const { items } = await ask<ChainList>('GET', path`/co/${companyId}/chains` + query({ relayId, limit: '20' }));
      const chainIds = [...new Set([chainId, ...items.map((chain) => chain.chainId)])];
      const read = await ask<z.infer<typeof fromListsResponse>>('POST', `${at}/from-lists`, { chainIds });
      made.value = { ...read, draft: await ask<DraftResponse>('GET', at) };
    });
  }, []);
  if (!made.value) return <NotReady {...{ title, onClose, ...deed }}>Reading the last requests…</NotReady>;
  const { contents, values, draft } = made.value;
  const varying = Object.entries(values).map(([name, all]): [string, unknown] => [variableWords(name), all.slice(0, 3)]);
  const save = () =>
    deed.run(async () => {
      await ask('PUT', at, { revision: draft.revision, contents });
      route(pageOf.draft(companyId, relayId));
    });
  return (
    <Confirm {...deed} title={title} verb="Use as the draft" onClose={onClose} onConfirm={() => void save()}>
      <Sentences of={draftOf(contents)} />
      {varying.length > 0 && <p>These values vary between the last requests, so the rule takes them from the event:</p>}
      <FieldList fields={varying} />
      {draft.contents && <p class="note wait">This replaces the draft of the rule. The published version stays.</p>}
      <p class="soft small">Nothing is published. You can change the draft, and try it.</p>
    </Confirm>
  );
}
