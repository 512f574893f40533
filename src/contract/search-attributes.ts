/** The search attributes of chains. Operators use search attributes to find chains. Temporal does not encrypt search attributes. */

import { defineSearchAttributeKey, type SearchAttributePair, type SearchAttributeUpdatePair } from '@temporalio/common';
import type { ActionStatus } from '../chain/action-status.js';
import type { ChainAction, ChainRef } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { jsonBytes } from '../chain/text.js';

export const companyKey = defineSearchAttributeKey('RelayCompanyId', 'KEYWORD');
const chainKey = defineSearchAttributeKey('RelayChainId', 'KEYWORD');
export const needsAttentionKey = defineSearchAttributeKey('RelayNeedsAttention', 'BOOL');
const assignmentsKey = defineSearchAttributeKey('RelayAssignmentIds', 'KEYWORD_LIST');
export const rulesKey = defineSearchAttributeKey('RelayRuleIds', 'KEYWORD_LIST');
const failuresKey = defineSearchAttributeKey('RelayFailureTypes', 'KEYWORD_LIST');
const pausedKey = defineSearchAttributeKey('RelayPaused', 'BOOL');
export const attentionSinceKey = defineSearchAttributeKey('RelayAttentionSince', 'DATETIME');

export const searchAttributeKeys = [
  companyKey,
  chainKey,
  needsAttentionKey,
  assignmentsKey,
  rulesKey,
  failuresKey,
  pausedKey,
  attentionSinceKey,
];

export function searchAttributesOf({ companyId, chainId }: ChainRef, actions: readonly ChainAction[]): SearchAttributePair[] {
  return [
    { key: companyKey, value: companyId },
    { key: chainKey, value: chainId },
    { key: needsAttentionKey, value: false },
    { key: assignmentsKey, value: fitting(actions.flatMap(({ assignmentId }) => assignmentId ?? [])) },
    { key: rulesKey, value: fitting(actions.map(({ relayId }) => relayId)) },
  ];
}

/** The attributes that can change while a chain runs. Part of the replay contract. */
export function standingOf(actions: readonly ActionStatus[]): SearchAttributeUpdatePair[] {
  const held = actions.filter(({ state }) => state === 'needs-attention');
  const failures = failureTypesOf(actions);
  const paused = actions.some(({ pausedSince }) => pausedSince !== undefined);
  const assignments = fitting(actions.flatMap(({ assignmentId }) => assignmentId ?? []));
  return [
    { key: needsAttentionKey, value: held.length > 0 },
    { key: failuresKey, value: failures ?? null },
    { key: pausedKey, value: paused || null },
    { key: assignmentsKey, value: assignments.length > 0 ? assignments : null },
  ];
}

/** The types of the failures of an ended chain, or of the actions that need attention. Undefined if there are none. */
export function failureTypesOf(actions: readonly ActionStatus[]): string[] | undefined {
  const state = actions.every(({ state }) => hasEnded(state)) ? 'failed' : 'needs-attention';
  const failures = fitting(actions.flatMap((action) => (action.state === state && action.error?.type) || []));
  return failures.length > 0 ? failures : undefined;
}

/** If `RelayNeedsAttention` changes, adds `RelayAttentionSince` to the changes. @param now - Unix milliseconds. */
export function withAttentionSince(changed: readonly SearchAttributeUpdatePair[], now: number): SearchAttributeUpdatePair[] {
  const attention = changed.find(({ key }) => key === needsAttentionKey);
  return attention ? [...changed, { key: attentionSinceKey, value: attention.value ? new Date(now) : null }] : [...changed];
}

/** Leaves out duplicates, and values that do not fit in 2,048 bytes of JSON. Part of the replay contract. */
function fitting(values: readonly string[]): string[] {
  let room = 2048 - 2;
  return [...new Set(values)].filter((value) => {
    const bytes = jsonBytes(value) + 1; // one byte more for the comma
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
}
