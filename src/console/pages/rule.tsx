/** One rule: what it does, its address, its last events and chains, and its settings. */

import { admin, may, pageOf, seldom, useCompany, useResource } from '../base.js';
import { Sentences } from '../composer/differences.js';
import { contentsText, draftOf } from '../composer/draft.js';
import { Page } from '../frame.js';
import { Door, Tokens } from '../rule/door.js';
import { Health } from '../rule/health.js';
import { TestEvent } from '../rule/sending.js';
import { Enabling, type Rule, RuleSettings } from '../rule/settings.js';
import { Week } from '../rule/week.js';
import type { DraftResponse, eventsResponse, Token, tokensResponse, versionsResponse, WholeVersion, z } from '../types.js';
import { ButtonTo, Known, LinkRow, Opener, Section, Time } from '../ui/index.js';
import { byWords } from '../words.js';
import { EventTable } from './rule-events.js';

export function RulePage({ relayId }: { relayId: string }) {
  const { ruleName } = useCompany();
  const at = admin`/rules/${relayId}`;
  const last = useResource<z.infer<typeof eventsResponse>>(`${at}/events?limit=5`);
  const rule = useResource<Rule>(may('manage') ? at : undefined, seldom);
  const tokens = useResource<z.infer<typeof tokensResponse>>(may('author') ? `${at}/tokens` : undefined, seldom);
  const isAddress = (one: Token) => one.purpose === 'event' && one.state === 'active';
  const onSaved = (stored: Rule) => (rule.data.value = stored);
  const [events, chains] = [pageOf.events(relayId), pageOf.chains({ relayId })];
  const nobody = pageOf.chains({ relayId, nobodyFound: 'true' });
  const links = { 'All rules': pageOf.rules(), 'Chains of this rule': chains, 'Chains that found nobody': nobody };
  return (
    <Page title={`Rule ${ruleName(relayId)}`} about={<LinkRow of={{ ...links, 'Events of this rule': events }} />}>
      <RuleContents at={at} relayId={relayId} />
      <Known of={last}>
        {({ events: shown }) =>
          shown.length > 0 && [
            <h2>Last events</h2>,
            <EventTable relayId={relayId} events={shown} />,
            <LinkRow of={{ 'All events': events }} />,
          ]
        }
      </Known>
      <Week relayId={relayId} />
      <Health relayId={relayId} />
      {may('author') && (
        <Known of={tokens}>{(known) => <Door {...{ at, relayId, hasOlder: known.tokens.some(isAddress) }} />}</Known>
      )}
      {may('manage') && (
        <Known of={rule}>
          {(known) => (
            <details class="card">
              <summary>Settings{!known.enabled && ' (the rule is disabled)'}</summary>
              <RuleSettings rule={known} at={at} onSaved={onSaved} />
              <Enabling rule={known} at={at} onSaved={onSaved} />
            </details>
          )}
        </Known>
      )}
      {may('author') && (
        <>
          <h2>Tokens</h2>
          <p class="soft">A token is the password of a webhook that sends events or lists of steps to this rule.</p>
          <Known of={tokens}>{(known) => <Tokens tokens={known.tokens} at={at} />}</Known>
        </>
      )}
    </Page>
  );
}

export function RuleContents({ at, relayId }: { at: string; relayId: string }) {
  const versions = useResource<z.infer<typeof versionsResponse>>(`${at}/versions?limit=1`, seldom);
  const { published } = versions.data.value ?? {};
  const version = useResource<WholeVersion>(published === undefined ? undefined : `${at}/versions/${published}`, seldom);
  const draft = useResource<DraftResponse>(`${at}/draft`, seldom).data.value?.contents;
  const contents = version.data.value?.contents;
  const isChanged = draft && contents && contentsText(draftOf(draft)) !== contentsText(draftOf(contents));
  const unpublished = draft
    ? 'The draft is not published yet, so events start no chains.'
    : 'This rule has no steps of its own. If a webhook sends a list of steps for this rule, the relay runs that list.';
  return (
    <Section title="What the rule does">
      {published === undefined ? (
        <Known of={versions}>{() => <p>{unpublished}</p>}</Known>
      ) : (
        <Known of={version}>
          {({ contents, version, publishedBy, publishedAt, note }) => (
            <>
              <Sentences of={draftOf(contents)} />
              <p class="soft small">
                Version {version}, published {byWords(publishedBy)}, <Time at={publishedAt} distance />
                {note && `. Reason: “${note}”`}
              </p>
            </>
          )}
        </Known>
      )}
      {isChanged && <p class="note wait">The draft has changes that are not published.</p>}
      <p class="row">
        {may('author') && <ButtonTo href={pageOf.draft(relayId)}>{draft ? 'Edit' : 'Write the steps'}</ButtonTo>}
        {may('author') && contents && (
          <Opener opens="Send a test event">
            {(onClose) => <TestEvent {...{ at: `${at}/events`, relayId, contents, onClose }} />}
          </Opener>
        )}
        {published !== undefined && <a href={pageOf.versions(relayId)}>Versions and differences</a>}
      </p>
    </Section>
  );
}
