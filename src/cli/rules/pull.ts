/** `relay rules pull`: writes the published versions of a company's rules into YAML files. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesResponse } from '../../contract/rule.js';
import { path } from '../api.js';
import type { Session } from '../session.js';
import { NotConfirmed } from '../terminal.js';
import { type RuleFile, readRuleFiles } from './file.js';
import { ruleText } from './text.js';
import { askVersion, isSame } from './versions.js';

export async function pull(session: Session, companyId: string, folder: string, yes?: boolean): Promise<void> {
  const files = existsSync(folder) ? readRuleFiles(folder) : [];
  mkdirSync(folder, { recursive: true });
  for await (const { relayId, name, published } of everyRule(session, companyId)) {
    const file = files.find((file) => file.relayId === relayId);
    if (published === undefined) session.note(`Rule ${relayId} (${name}) has no published version.`);
    else await write({ relayId, name, version: published }, file);
  }

  async function write(rule: { relayId: string; name: string; version: number }, file: RuleFile | undefined): Promise<void> {
    const target = file?.path ?? join(folder, `${slugOf(`${rule.relayId} ${rule.name}`)}.yaml`);
    const { contents } = await askVersion(session, companyId, rule.relayId, rule.version);
    const version = file && !file.version ? undefined : rule.version; // a file without a version gets none
    const hasContents = file !== undefined && isSame(contents, file.contents);
    if (hasContents && file.name === rule.name && file.version === version) return session.print([`${target}: no change`]);
    const isThere = existsSync(target);
    if (isThere && !hasContents && !(await isPublished(rule, file)) && !(await mayOverwrite(target))) return;
    const text = ruleText({ ...rule, version, contents }, `${session.api.address.url}/schemas/rule.json`, file?.document);
    writeFileSync(target, text);
    session.print([`${target}: ${isThere ? 'changed' : 'new'}`]);
  }

  /** Whether the file is an unchanged copy of an older published version. Then an overwrite loses nothing. */
  async function isPublished(rule: { relayId: string; version: number }, file: RuleFile | undefined): Promise<boolean> {
    if (!file?.version || file.version >= rule.version) return false;
    return isSame((await askVersion(session, companyId, rule.relayId, file.version)).contents, file.contents);
  }

  async function mayOverwrite(target: string): Promise<boolean> {
    try {
      await session.confirm(yes, 'Overwrite the file?', `${target} has changes that are not published, and they will be lost`);
      return true;
    } catch (error) {
      if (!(error instanceof NotConfirmed)) throw error;
      session.note(`${target} is not overwritten.`);
      return false;
    }
  }
}

/** For example `4711-widen-the-search`. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 60);
  return slug.replaceAll(/^-|-$/g, '');
}

async function* everyRule({ api }: Session, companyId: string) {
  let cursor: string | undefined;
  do {
    const query = { limit: 200, cursor };
    const { body } = await api.ask('GET', path`/admin/companies/${companyId}/rules`, rulesResponse, { query });
    yield* body.rules;
    cursor = body.nextCursor;
  } while (cursor !== undefined);
}
