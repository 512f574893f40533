/** Actions that the relay makes from an event. */

import assert from 'node:assert/strict';
import type { ChainAction } from '../../src/chain/chain.js';
import { contentsSchema } from '../../src/contract/rule-contents.js';
import { renderEvent } from '../../src/rules/render.js';

/**
 * Renders one action of a rule's contents for an event.
 * @param fields - the action as the contents have it, with references and `if`
 * @param options - `index`: the action's place in the chain. `event`: the event that the action refers to.
 */
export function eventAction(
  fields: Record<string, unknown>,
  { index = 0, relayId = '7', event = { n: 4 } }: { index?: number; relayId?: string; event?: Record<string, unknown> } = {},
): ChainAction {
  const rendered = renderEvent(contentsSchema.parse({ actions: [fields] }), relayId, event);
  assert(rendered.kind === 'chain', JSON.stringify(rendered));
  const [action = assert.fail()] = rendered.actions;
  return { ...action, index };
}
