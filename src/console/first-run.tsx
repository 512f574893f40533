/** The first steps of a company. The list disappears when all steps are done, or when the second chain arrives. */

import type { ChainList } from '../contract/chain-resource.js';
import type { StoredCompany } from '../contract/company.js';
import { pageOf, path, query } from './addresses.js';
import { seldom, useResource } from './resource.js';
import { may, useCompany } from './session.js';

export function FirstRun() {
  const { companyId, rules } = useCompany();
  const { items } = useResource<ChainList>(path`/co/${companyId}/chains` + query({ limit: '2' })).data.value ?? {};
  const settings = useResource<StoredCompany>(may('manage') ? path`/admin/companies/${companyId}` : undefined, seldom).data.value;
  if (!may('author') || !items || items.length > 1) return null;
  const [rule, chain] = [rules[0], items[0]];
  const steps: [isDone: boolean, href: string | undefined, words: string, help: string][] = [
    [!!rule, pageOf.compose(companyId), 'Write a rule', 'A rule says what happens when an event arrives.'],
    [
      !!chain,
      rule && pageOf.rule(companyId, rule.relayId),
      'Send a test event',
      'The page of the rule has the address and an example with curl. Or use a button of the pretend platform of npm start.',
    ],
    [
      !!chain && chain.status !== 'running',
      chain && pageOf.chain(companyId, chain.chainId),
      'Watch the chain',
      'A chain is what the rule does for one event.',
    ],
  ];
  if (settings)
    steps.unshift([
      !!settings.platform,
      pageOf.settings(companyId),
      'Connect your assignment platform',
      'The relay sends assignments there, and asks for their status.',
    ]);
  if (steps.every(([isDone]) => isDone)) return null;
  return (
    <section class="card" aria-labelledby="first-run">
      <h2 id="first-run">First steps</h2>
      <ol class="plain todo">
        {steps.map(([isDone, href, words, help]) => (
          <li key={words} class={isDone ? 'good' : 'quiet'}>
            {href ? <a href={href}>{words}</a> : words}
            {isDone && ' (done)'}
            <span class="block soft small">{help}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
