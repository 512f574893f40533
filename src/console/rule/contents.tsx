/** What a rule does, as sentences: the published version, and whether the draft differs. */

import type { z } from 'zod';
import type { DraftResponse, versionsResponse, WholeVersion } from '../../contract/rule-contents.js';
import { pageOf } from '../addresses.js';
import { Sentences } from '../composer/conflict.js';
import { contentsOf, draftOf } from '../composer/draft.js';
import { seldom, useResource } from '../resource.js';
import { may, useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { Time } from '../ui/text.js';

/** @param at - the path of the rule in the API. */
export function RuleContents({ at, relayId }: { at: string; relayId: string }) {
  const { companyId } = useCompany();
  const versions = useResource<z.infer<typeof versionsResponse>>(`${at}/versions?limit=1`, seldom);
  const { published } = versions.data.value ?? {};
  const version = useResource<WholeVersion>(published === undefined ? undefined : `${at}/versions/${published}`, seldom);
  const draft = useResource<DraftResponse>(`${at}/draft`, seldom).data.value;
  const textOf = (contents: Parameters<typeof draftOf>[0]) => JSON.stringify(contentsOf(draftOf(contents)));
  const isChanged = draft?.contents && version.data.value && textOf(draft.contents) !== textOf(version.data.value.contents);
  return (
    <section class="card" aria-labelledby="does">
      <h2 id="does">What it does</h2>
      <Known of={versions}>
        {() =>
          published === undefined ? (
            <p>
              {draft?.contents
                ? 'The draft is not published yet, so events start nothing.'
                : 'This rule has no steps of its own. It runs the lists that webhooks send, if they name this rule.'}
            </p>
          ) : (
            <Known of={version}>
              {({ contents, version, publishedAt, publishedBy, note }) => (
                <>
                  <Sentences of={draftOf(contents)} />
                  <p class="soft small">
                    Version {version}, published by {publishedBy}, <Time at={publishedAt} distance />
                    {note && `: ${note}`}
                  </p>
                </>
              )}
            </Known>
          )
        }
      </Known>
      {isChanged && <p class="note wait">The draft has changes that are not published.</p>}
      <p class="row">
        {may('author') && (
          <a class="button main" href={pageOf.draft(companyId, relayId)}>
            {draft?.contents ? 'Edit' : 'Write the steps'}
          </a>
        )}
        {published !== undefined && <a href={pageOf.versions(companyId, relayId)}>Versions and differences</a>}
      </p>
    </section>
  );
}
