/** The versions of a rule: who published them and why, their differences, going back, and the shadow version. */

import { useSignal } from '@preact/signals';
import { admin, ask, may, pageOf, query, seldom, useCompany, usePages } from '../base.js';
import { Differences, Sentences } from '../composer/differences.js';
import { draftOf } from '../composer/draft.js';
import { PublishDialog } from '../composer/tried.js';
import { PageOf } from '../frame.js';
import type { ContentsDiff, Version, versionsResponse, WholeVersion, z } from '../types.js';
import { Asked, Badge, Choice, DeedButton, LinkRow, Opener, Section, Time } from '../ui/index.js';
import { byWords } from '../words.js';

type Versions = z.infer<typeof versionsResponse>;

export function VersionsPage({ relayId }: { relayId: string }) {
  const { ruleName } = useCompany();
  const at = admin`/rules/${relayId}`;
  const [listed] = usePages<Versions>(`${at}/versions`, seldom);
  const draft = may('author') && pageOf.draft(relayId);
  const about = <LinkRow of={{ 'The rule': pageOf.rule(relayId), 'Edit the draft': draft }} />;
  return (
    <PageOf title={`Versions of ${ruleName(relayId)}`} about={about} of={listed}>
      {(known) => (
        <>
          {known.versions.length === 0 && <p class="card">Nothing is published yet. Write the draft, then publish it.</p>}
          {known.versions.map((version) => (
            <OneVersion key={version.version} {...{ at, relayId, version, known }} />
          ))}
        </>
      )}
    </PageOf>
  );
}

/** The buttons that begin and end the trial of a version on new events, without effect. */
const start = {
  ...{ opens: 'Try this version on new events', title: 'Try this version on new events?', verb: 'Try' },
  words: 'The relay now tries this version on each new event.',
  about: 'The published version runs as before. A trial sends nothing and changes nothing. The list of events shows the results.',
};
const stop = {
  ...{ opens: 'End the trial of this version', title: 'End the trial of this version?', verb: 'End the trial', words: 'Ended' },
  about: 'The published version runs as before.',
};

type OneVersionProps = { at: string; relayId: string; version: Version; known: Versions };
function OneVersion({ at, relayId, version: shown, known }: OneVersionProps) {
  const { version, publishedAt, publishedBy, note, fromVersion } = shown;
  const [isPublished, isShadow] = [version === known.published, version === known.shadow];
  const [own, back] = [`${at}/versions/${version}`, `Go back to version ${version}`];
  const badges = [isPublished && <Badge tone="good">published</Badge>, ' ', isShadow && <Badge tone="busy">on trial</Badge>];
  return (
    <Section title={[`Version ${version} `, ...badges]}>
      <p class="soft small">
        <Time before="Published " at={publishedAt} distance /> {byWords(publishedBy)}
        {fromVersion !== undefined && `. The contents are the same as in version ${fromVersion}`}
      </p>
      {note && <p>Reason: “{note}”</p>}
      <Asked summary="What it does" path={own}>
        {({ contents }: WholeVersion) => <Sentences of={draftOf(contents)} />}
      </Asked>
      <Compared {...{ version, known, rule: at }} />
      {may('author') && (
        <p class="row">
          {!isPublished && (
            <Opener opens={back}>
              {(onClose) => (
                <PublishDialog
                  {...{ relayId, version, onClose, title: `${back}?`, verb: back }}
                  about={`The relay publishes version ${version} again, as a new version. Chains that are already running keep their version.`}
                  publish={(note) => ask('POST', `${own}/publish`, note)}
                />
              )}
            </Opener>
          )}
          {!isPublished && (
            <DeedButton
              {...{ ...(isShadow ? stop : start), unseen: `(version ${version})` }}
              change={() => ask('PUT', `${at}/shadow`, { version: isShadow ? null : version })}
            />
          )}
        </p>
      )}
    </Section>
  );
}

/** Shows what has changed from the older to the newer contents. The draft is the newest. */
function Compared({ version, known, rule }: { version: number; known: Versions; rule: string }) {
  const others = known.versions.map(({ version }) => version).filter((other) => other !== version);
  const other = useSignal(String(others.find((one) => one < version) ?? 'draft'));
  const isNewer = other.value !== 'draft' && Number(other.value) < version;
  const options = [['draft', 'the draft'] as const, ...others.map((one) => [String(one), `version ${one}`] as const)];
  const choice = <Choice label={`Compare version ${version} with`} of={other} options={options} />;
  const [before, after] = isNewer ? [other.value, String(version)] : [String(version), other.value];
  const path = `${rule}/versions/${before}/diff${query({ with: after })}#${known.published}`; // a publication reloads it
  return (
    <Asked summary="Differences" path={path} above={choice}>
      {(diff: ContentsDiff) => (
        <>
          <p class="soft small">{`Changes from version ${before} to ${after === 'draft' ? 'the draft' : `version ${after}`}:`}</p>
          <Differences of={diff} />
        </>
      )}
    </Asked>
  );
}
