/** `relay rules push`: shows what will change, then publishes rules from YAML files. */

import { writeFileSync } from 'node:fs';
import { triedText } from '../../chain/tried-text.js';
import { createdRuleResponse } from '../../contract/rule.js';
import { type Contents, draftResponse, versionSchema, type WholeVersion } from '../../contract/rule-contents.js';
import { diffContents } from '../../rules/compare.js';
import { path } from '../api.js';
import { issueLines } from '../explain.js';
import type { Session } from '../session.js';
import { exitCodes } from '../terminal.js';
import type { Line } from '../text.js';
import { type RuleFile, readRuleFiles } from './file.js';
import { reportProblems } from './test.js';
import { withAbout } from './text.js';
import { askPublished, askTry, diffLines, isSame, newEventsRunIt, ruleAt } from './versions.js';

type PushOptions = { draft?: true | undefined; note?: string | undefined; yes?: true | undefined };

/** Pushes nothing if one of the files has a mistake. */
export async function push(session: Session, companyId: string, target: string, options: PushOptions): Promise<void> {
  const files = readRuleFiles(target);
  if (reportProblems(session, files) > 0) return;
  for (const { contents, ...file } of files) if (contents) await pushFile({ session, companyId, options, contents, file });
}

type Push = { session: Session; companyId: string; options: PushOptions; contents: Contents; file: Omit<RuleFile, 'contents'> };

async function pushFile(push: Push): Promise<void> {
  const { session, companyId, options, contents, file } = push;
  const { relayId, name = '' } = file;
  if (relayId === undefined) {
    session.print([`${file.path}: a new rule`]);
    await session.confirm(options.yes, `Create rule ${name}?`, newEventsRunIt);
    return save(push, await create(push, name), 0, undefined);
  }
  const published = await askPublished(session, companyId, relayId);
  if (published && isSame(contents, published.contents) && !options.draft) {
    session.print([`${file.path}: the same as version ${published.version}`]);
    return keepVersion(file, published.version);
  }
  if (published && file.version !== undefined && file.version < published.version) {
    const seeChanges = `To see what changed: npx relay rules diff ${companyId} ${relayId} ${file.version} ${published.version}.`;
    const orPublish = `To publish the file nevertheless, write version: ${published.version} into it.`;
    return overtaken(push, published, `${seeChanges} ${orPublish}`);
  }
  session.print([`${file.path}: ${published ? `differences to version ${published.version}` : 'the first version'}`]);
  if (published) session.print(diffLines(diffContents(published.contents, contents)));
  const { body: tried } = await askTry(session, companyId, relayId, { contents });
  if (tried.problems.length > 0) return fail(session, 'The relay refuses the contents:', ...issueLines(tried.problems));
  session.print([triedText(tried)]);
  const { body: draft } = await session.api.ask('GET', `${ruleAt(companyId, relayId)}/draft`, draftResponse);
  const isKept = draft.contents === undefined || [contents, published?.contents].some((known) => isSame(known, draft.contents));
  if (!isKept) session.note(`The draft has changes of ${draft.updatedBy} that are not published. They will be lost.`);
  const [what, why] = options.draft ? ['Save the draft', 'It replaces the stored draft'] : ['Publish a version', newEventsRunIt];
  await session.confirm(options.yes, `${what} of rule ${relayId}?`, why);
  await save(push, relayId, draft.revision, published?.version);
}

/** Does not show the token of the new rule, because many people read the log of a CI. */
async function create({ session, companyId, file }: Push, name: string): Promise<string> {
  const target = path`/admin/companies/${companyId}/rules`;
  const { relayId } = (await session.api.ask('POST', target, createdRuleResponse, { body: { name } })).body;
  writeFileSync(file.path, withAbout(file, { relayId }));
  session.print([`Rule ${relayId} is created. For a token: npx relay tokens rotate ${companyId} ${relayId}`]);
  return relayId;
}

/** @param revision - the revision of the draft that the person saw. @param seen - the published version that the person saw. */
async function save(push: Push, relayId: string, revision: number, seen: number | undefined): Promise<void> {
  const { session, companyId, options, contents, file } = push;
  const target = ruleAt(companyId, relayId);
  const nextStep = () => runAgain;
  const saved = await session.api.ask('PUT', `${target}/draft`, draftResponse, { body: { revision, contents }, nextStep });
  if (options.draft) return session.print([`The draft of rule ${relayId} is saved.`]);
  const published = await askPublished(session, companyId, relayId);
  if (published && published.version !== seen) return overtaken(push, published, runAgain);
  const body = { revision: saved.body.revision, note: options.note };
  const { version } = (await session.api.ask('POST', `${target}/publish`, versionSchema, { body, nextStep })).body;
  session.print([`Version ${version} of rule ${relayId} is published.`]);
  keepVersion({ ...file, relayId }, version);
}

const runAgain = 'Run the command again, to see the new differences.';

/** Reports that somebody published a version after the pull of the file, or after the person saw the differences. */
function overtaken({ session, file }: Push, { version, publishedBy }: WholeVersion, whatToDo: string): void {
  fail(session, `${file.path} is not published, because ${publishedBy} published version ${version} meanwhile.`, whatToDo);
}

function fail(session: Session, ...lines: Line[]): void {
  for (const line of lines) session.note(line);
  session.exitCode = exitCodes.refused;
}

/** Updates the version in the file, if the file has a version. */
function keepVersion(file: Push['file'], version: number): void {
  if (file.version !== undefined && file.version !== version) writeFileSync(file.path, withAbout(file, { version }));
}
