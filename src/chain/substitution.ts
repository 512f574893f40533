/** What the webhook's substitution leaves behind: blanks, and variables that nobody has filled in. */

import { cutShort } from './text.js';

const variable = /\$\{[^{}]*\}/;

/** The first `${variable}` that the webhook left unsubstituted. */
export function unsubstituted(text: string): string | undefined {
  return variable.exec(text)?.[0];
}

/** Whether a field that decides what is done says nothing: empty, white space, or a `${variable}` left unsubstituted. */
export function isBlank(text: string): boolean {
  return text.trim() === '' || variable.test(text);
}

/** What to say of a text for which `isBlank` holds: `is blank`, or `is "${owner}", not substituted`. */
export function blankness(text: string): string {
  return text.trim() === '' ? 'is blank' : `is "${cutShort(text.trim(), 80)}", not substituted`;
}
