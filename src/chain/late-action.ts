/** Fills in the late texts of an action, and reads the action again, as if it came in a request. */

import type { LateValues } from './action-status.js';
import type { ChainAction, LateText } from './chain.js';
import { filledText, textsOf } from './late.js';
import { readRequest } from './request.js';
import { fieldsOf } from './sent.js';
import type { Parsed } from './text.js';

/** @param action - must have `sent`. @returns the action without late texts, or the first mistake in its fields. */
export function withLate(action: ChainAction, values: LateValues['values']): Parsed<{ action: ChainAction }> {
  const { late = {}, unfilled = [], index, sent } = action;
  const filled = Object.entries(late).map(([field, text]) => [field, filledIn(field, text, values)]);
  const fields = { ...fieldsOf(action), ...Object.fromEntries(filled), relayAccessToken: '' };
  const read = readRequest([fields], { unfilled });
  const [mistake] = read.ok ? read.mistakes : [...read.problems, ...read.mistakes];
  const [whole] = read.ok ? read.actions : [];
  if (!whole || mistake) return { ok: false, error: `${mistake?.pointer.replace('/0/', '')} ${mistake?.detail}` };
  return { ok: true, action: { ...whole, index, sent } };
}

function filledIn(field: string, text: LateText | LateText[], values: LateValues['values']): string | string[] {
  const texts = textsOf(text).map((one) => filledText(field, one, values));
  return field === 'emails' ? texts : texts.join('');
}
