/** What the webhook's substitution leaves behind: blanks and variables that nobody filled in; and cutting texts short. */

const variable = /\$\{[^{}]*\}/;

/** The first `${variable}` that the webhook left unsubstituted. */
export function unsubstituted(text: string): string | undefined {
  return variable.exec(text)?.[0];
}

/** Whether a field that decides what is done says nothing: empty, white space, or a `${variable}` left unsubstituted. */
export function isBlank(text: string): boolean {
  return text.trim() === '' || variable.test(text);
}

/** At most `length` UTF-16 units, never half a surrogate pair, with `…` where something is missing. */
export function cutShort(text: string, length = 200): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 2)) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}
