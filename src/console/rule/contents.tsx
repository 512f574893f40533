/** What a rule does, as sentences: the published version, and whether the draft differs. */

import { may, pageOf, seldom, useCompany, useResource } from '../base.js';
import { Sentences } from '../composer/differences.js';
import { contentsText, draftOf } from '../composer/draft.js';
import type { DraftResponse, versionsResponse, WholeVersion, z } from '../types.js';
import { Known, Time } from '../ui/index.js';

/** @param at - the path of the rule in the API. */
export function RuleContents({ at, relayId }: { at: string; relayId: string }) {
  const { companyId } = useCompany();
  const versions = useResource<z.infer<typeof versionsResponse>>(`${at}/versions?limit=1`, seldom);
  const { published } = versions.data.value ?? {};
  const version = useResource<WholeVersion>(published === undefined ? undefined : `${at}/versions/${published}`, seldom);
  const draft = useResource<DraftResponse>(`${at}/draft`, seldom).data.value?.contents;
  const contents = version.data.value?.contents;
  const isChanged = draft && contents && contentsText(draftOf(draft)) !== contentsText(draftOf(contents));
  const unpublished = draft
    ? 'The draft is not published yet, so events start nothing.'
    : 'This rule has no steps of its own. It runs the lists that webhooks send, if they name this rule.';
  return (
    <section class="card" aria-labelledby="does">
      <h2 id="does">What it does</h2>
      {published === undefined ? (
        <Known of={versions}>{() => <p>{unpublished}</p>}</Known>
      ) : (
        <Known of={version}>
          {({ contents, version, publishedBy, publishedAt, note }) => (
            <>
              <Sentences of={draftOf(contents)} />
              <p class="soft small">
                Version {version}, published by {publishedBy}, <Time at={publishedAt} distance />
                {note && `: ${note}`}
              </p>
            </>
          )}
        </Known>
      )}
      {isChanged && <p class="note wait">The draft has changes that are not published.</p>}
      <p class="row">
        {may('author') && (
          <a class="button main" href={pageOf.draft(companyId, relayId)}>
            {draft ? 'Edit' : 'Write the steps'}
          </a>
        )}
        {published !== undefined && <a href={pageOf.versions(companyId, relayId)}>Versions and differences</a>}
      </p>
    </section>
  );
}
