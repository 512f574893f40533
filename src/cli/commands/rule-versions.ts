/** `relay rules versions|diff|try|publish|go-back`: what a rule does, and what it did before. */

import type { Command } from '@commander-js/extra-typings';
import { triedText } from '../../chain/tried-text.js';
import { ruleSchema } from '../../contract/rule.js';
import { contentsDiffSchema, draftResponse, versionSchema, versionsResponse } from '../../contract/rule-contents.js';
import { command, readCount, withParts, yesOption } from '../options.js';
import { askTry, diffLines, newEventsRunIt, ruleAt, triedLines } from '../rules/versions.js';
import type { Session } from '../session.js';
import { UsageError } from '../terminal.js';
import { fields, readMoment } from '../text.js';

export const noteWords = ['--note <text>', 'why this version is published'] as const;

export function addVersionCommands(rules: Command, session: Session): void {
  const versions = 'list the published versions of a rule, the newest first';
  withParts(command(rules, 'versions <companyId> <relayId>', 'acme 4711', versions)).action((companyId, relayId, options) =>
    session.list(options, {
      path: `${ruleAt(companyId, relayId)}/versions`,
      field: 'versions',
      schema: versionsResponse,
      columns: {
        VERSION: ({ version }) => String(version),
        PUBLISHED: 'publishedAt',
        BY: 'publishedBy',
        'SAME AS': ({ fromVersion }) => (fromVersion === undefined ? '' : String(fromVersion)),
        NOTE: 'note',
      },
      none: `Rule ${relayId} has no published version.`,
      below: ({ shadow }) => (shadow === undefined ? [] : ['', `The shadow version is ${shadow}.`]),
    }),
  );

  const diff = 'show the differences between two versions; by default between a version and the draft';
  command(rules, 'diff <companyId> <relayId> <version> [other]', 'acme 4711 3 4', diff)
    .description('[other] is a version, draft or published.')
    .action((companyId, relayId, version, other) => session.show(askDiff(companyId, relayId, version, other), diffLines));

  const tryIt = 'try the draft, or a version, on past events, without effects';
  command(rules, 'try <companyId> <relayId> [version]', 'acme 4711 --last 500', tryIt)
    .description(
      'Compares the results of the draft, or the version, with those of the published version. Default: the last 200 events.',
    )
    .option('--last <n>', 'only this number of the newest events, at most 1000', readCount('--last'))
    .option('--since <time>', 'events since this time: 2026-07-01T12:00:00Z, or 2h for two hours ago')
    .option('--until <time>', 'events before this time')
    .option('--events <ids>', 'the events with these ids: ID,ID')
    .action((companyId, relayId, version, { last, since, until, events }) => {
      const chosen = [last, since, events].filter((option) => option !== undefined).length;
      if (chosen > 1 || (until !== undefined && since === undefined))
        throw new UsageError('Use one of --last, --since (with or without --until) and --events');
      const time = since && { since: readMoment(since, 'ago'), until: until && readMoment(until, 'ago') };
      const body = {
        version: version === undefined ? 'draft' : readVersion(version),
        events: time ?? (events === undefined ? { last: last ?? 200 } : { ids: events.split(',') }),
      };
      return session.show(askTry(session, companyId, relayId, body), (tried) => triedLines(session, tried));
    });

  const publish = 'publish the draft: new events will run it';
  const goBack = 'publish an old version again, as a new version';
  const shown = 'First shows the differences to the published version, and tries the new version on the last 200 events.';
  command(rules, 'publish <companyId> <relayId>', 'acme 4711 --note "Wider radius"', publish)
    .description(shown)
    .option(...noteWords)
    .addOption(yesOption)
    .action(async (companyId, relayId, { note, yes }) => {
      const { revision } = (await session.api.ask('GET', `${ruleAt(companyId, relayId)}/draft`, draftResponse)).body;
      await publishAfterAsking(companyId, relayId, 'draft', { revision, note }, yes);
    });
  command(rules, 'go-back <companyId> <relayId> <version>', 'acme 4711 3', goBack)
    .description(shown)
    .option(...noteWords)
    .addOption(yesOption)
    .action((companyId, relayId, version, { note, yes }) =>
      publishAfterAsking(companyId, relayId, readVersion(version), { note }, yes),
    );

  function askDiff(companyId: string, relayId: string, version: string | number, other: string | number | undefined) {
    const target = `${ruleAt(companyId, relayId)}/versions/${readVersion(String(version))}/diff`;
    return session.api.ask('GET', target, contentsDiffSchema, { query: { with: other } });
  }

  async function publishAfterAsking(companyId: string, relayId: string, version: number | 'draft', body: object, yes?: true) {
    const rule = ruleAt(companyId, relayId);
    const { published } = (await session.api.ask('GET', rule, ruleSchema)).body;
    const diff = published === undefined ? undefined : await askDiff(companyId, relayId, published, version);
    const { body: tried } = await askTry(session, companyId, relayId, { version });
    session.print([...(diff ? [...diffLines(diff.body), ''] : []), triedText(tried)]);
    const isDraft = version === 'draft';
    const question = isDraft ? `Publish the draft of rule ${relayId}?` : `Publish version ${version} of rule ${relayId} again?`;
    await session.confirm(yes, question, newEventsRunIt);
    const target = isDraft ? `${rule}/publish` : `${rule}/versions/${version}/publish`;
    return session.show(session.api.ask('POST', target, versionSchema, { body }), ({ version, ...rest }) => [
      `Version ${version} is published.`,
      ...fields(rest, '  '),
    ]);
  }
}

function readVersion(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${text} is not a version: write a number, such as 3`);
  return Number(text);
}
