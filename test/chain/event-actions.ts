/** Actions that the relay makes from an event. */

import assert from 'node:assert/strict';
import type { ChainAction } from '../../src/chain/chain.js';
import { contentsSchema } from '../../src/contract/rule-contents.js';
import { renderEvent } from '../../src/rules/render.js';

/**
 * @param fields - an action of a version: the fields of a request and `if`, with references.
 * @param options.index - its place in the chain. @param options.event - the event, to which the expression and the texts refer.
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
