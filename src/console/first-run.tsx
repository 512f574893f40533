/** The first steps of a company. The list disappears when all steps are done, or when the second chain arrives. */

import { may, pageOf, path, query, seldom, useCompany, useResource } from './base.js';
import type { ChainList, StoredCompany } from './types.js';
import { Section } from './ui/index.js';

export function FirstRun() {
  const { companyId, rules } = useCompany();
  const { items } = useResource<ChainList>(path`/co/${companyId}/chains` + query({ limit: '2' })).data.value ?? {};
  const settings = useResource<StoredCompany>(may('manage') ? path`/admin/companies/${companyId}` : undefined, seldom).data.value;
  if (!may('author') || !items || items.length > 1) return null;
  const [rule, chain] = [rules[0], items[0]];
  const toRule = rule && pageOf.rule(companyId, rule.relayId);
  const toChain = chain && pageOf.chain(companyId, chain.chainId);
  const steps: [isDone: boolean, words: string, help: string, href: string | undefined][] = [
    [!!rule, 'Write a rule', 'A rule says what happens when an event arrives.', pageOf.compose(companyId)],
    [!!chain, 'Send a test event', testHelp, toRule],
    [!!chain && chain.status !== 'running', 'Watch the chain', 'A chain is what the rule does for one event.', toChain],
  ];
  if (settings)
    steps.unshift([!!settings.platform, 'Connect your assignment platform', platformHelp, pageOf.settings(companyId)]);
  if (steps.every(([isDone]) => isDone)) return null;
  return (
    <Section title="First steps">
      <ol class="plain todo">
        {steps.map(([isDone, words, help, href]) => (
          <li key={words} class={isDone ? 'good' : 'quiet'}>
            {href ? <a href={href}>{words}</a> : words}
            {isDone && ' (done)'}
            <div class="soft small">{help}</div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const platformHelp = 'The relay sends assignments there, and asks for their status.';
const testHelp =
  'The page of the rule has the address and an example with curl. Or use a button of the pretend platform of npm start.';
