/** The versions of a rule with contents, as the API has them. */

import { ruleSchema } from '../../contract/rule.js';
import {
  type Contents,
  contentsSchema,
  tryResponse,
  type WholeVersion,
  wholeVersionSchema,
} from '../../contract/rule-contents.js';
import { diffContents } from '../../rules/compare.js';
import { path } from '../api.js';
import type { Session } from '../session.js';

export const ruleAt = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}`;

/** The reason that a command gives when it asks before it publishes. */
export const newEventsRunIt = 'New events will run it';

export async function askVersion({ api }: Session, companyId: string, relayId: string, version: number): Promise<WholeVersion> {
  const target = `${ruleAt(companyId, relayId)}/versions/${version}`;
  const { body } = await api.ask('GET', target, wholeVersionSchema);
  return { ...body, contents: withTexts(body.contents) };
}

export async function askPublished(session: Session, companyId: string, relayId: string): Promise<WholeVersion | undefined> {
  const { published } = (await session.api.ask('GET', ruleAt(companyId, relayId), ruleSchema)).body;
  return published === undefined ? undefined : askVersion(session, companyId, relayId, published);
}

export function askTry({ api }: Session, companyId: string, relayId: string, body: object) {
  return api.ask('POST', `${ruleAt(companyId, relayId)}/try`, tryResponse, { body });
}

/** @param other - contents, perhaps malformed. Malformed contents are never the same. */
export function isSame(one: Contents | undefined, other: unknown): boolean {
  const { data } = contentsSchema.safeParse(other);
  return one !== undefined && data !== undefined && diffContents(one, withTexts(data)).same;
}

/** Turns numbers and booleans into texts with the same meaning, because a file has only texts. */
function withTexts(contents: Contents): Contents {
  const text = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(text) : ['number', 'boolean'].includes(typeof value) ? String(value) : value;
  const ofAction = (action: object) => Object.fromEntries(Object.entries(action).map(([field, value]) => [field, text(value)]));
  return { ...contents, actions: contents.actions.map(ofAction) };
}
