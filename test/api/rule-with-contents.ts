/** Rules with contents for tests, made directly in the store. */

import assert from 'node:assert/strict';
import { type Contents, contentsSchema } from '../../src/contract/rule-contents.js';
import { doorSchema } from '../../src/contract/rule-event.js';
import type { Store } from '../../src/store/store.js';

const actor = { kind: 'admin' } as const;

export async function publish(store: Store, companyId: string, relayId: string, contents: unknown): Promise<number> {
  const { revision } = (await store.versions.draft(companyId, relayId)) ?? assert.fail('there is no rule');
  const parsed: Contents = contentsSchema.parse(contents);
  const saved = await store.versions.saveDraft(companyId, relayId, { revision, contents: parsed }, actor);
  const asked = { revision: saved?.draft.revision ?? 0, contents: parsed };
  const published = await store.versions.publish(companyId, relayId, asked, actor);
  assert(typeof published === 'object' && 'version' in published, JSON.stringify(published));
  return published.version.version;
}

export async function setDoor(store: Store, companyId: string, relayId: string, door: Record<string, unknown>): Promise<void> {
  await store.rules.setDoor(companyId, relayId, (stored) => doorSchema.parse({ ...stored, ...door }), actor);
}

/** The newest stored event of the rule, and the event's body. */
export async function lastEvent(store: Store, companyId: string, relayId: string) {
  const [event] = (await store.events.list(companyId, relayId, { limit: 1 })).items;
  return event && store.events.get(companyId, relayId, event.eventId);
}

/** Creates a rule. If `contents` are given, publishes them. */
export async function ruleOf(store: Store, companyId: string, contents?: unknown, door?: Record<string, unknown>) {
  const made = await store.rules.create(companyId, { name: 'Rule', onFailure: 'hold', onUnknown: 'resend' }, actor);
  assert(typeof made === 'object');
  const { relayId } = made.rule;
  if (contents !== undefined) await publish(store, companyId, relayId, contents);
  if (door) await setDoor(store, companyId, relayId, door);
  const eventToken = (await store.tokens.rotate(companyId, relayId, null, actor, 'event'))?.relayAccessToken ?? '';
  return { relayId, token: made.relayAccessToken, eventToken };
}
