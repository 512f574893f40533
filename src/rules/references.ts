/** References in the texts of a version: `${name}` (a variable), `${event.path}` and `${assignment.path}`. */

import { pathPattern } from '../chain/condition.js';
import { cutShort, type Parsed } from '../chain/text.js';

export interface Reference {
  name: string; // the text between the braces
  from: 'variable' | 'event' | 'assignment';
  path: string; // the path into the event or the assignment, or the name of a variable
}

/** Texts and references, in order. */
export type Template = readonly (string | Reference)[];

const dollars = /(?<!\$)(\$+)\{([^{}]*\})?/g; // the lookbehind keeps the run time linear

/** Before `{`, two dollars are one literal dollar. So `$${name}` is the text `${name}`, and `$$${name}` is a dollar and a value. */
export function parseTemplate(text: string): Parsed<{ template: Template }> {
  const template: (string | Reference)[] = [];
  let end = 0;
  for (const { 0: whole, 1: { length } = '', 2: braced = '', index } of text.matchAll(dollars)) {
    const isReference = length % 2 === 1;
    template.push(text.slice(end, index), '$'.repeat(Math.floor(length / 2)), isReference ? '' : `{${braced}`);
    end = index + whole.length;
    if (!isReference) continue;
    if (!braced) return { ok: false, error: 'contains ${ without }. To write ${ itself, write $${' };
    const reference = referenceOf(braced.slice(0, -1));
    if (typeof reference === 'string') return { ok: false, error: reference };
    template.push(reference);
  }
  return { ok: true, template: [...template, text.slice(end)].filter((part) => part !== '') };
}

function referenceOf(name: string): Reference | string {
  const [, from, path = ''] = /^(event|assignment)\b(.*)$/s.exec(name) ?? [];
  if (from !== 'event' && from !== 'assignment') return { name, from: 'variable', path: name };
  if (path.startsWith('.') && pathPattern.test(path.slice(1))) return { name, from, path: path.slice(1) };
  return `contains \${${cutShort(name, 80)}}, which is no path: write \${${from}.<path>}, such as \${${from}.location.zip}`;
}

/** Writes a text so that it contains no reference. */
export const withoutReferences = (text: string) => text.replaceAll(/(?<!\$)\$+(?=\{)/g, (found) => found + found);
