/** The message at the foot of the page. Screen readers read it aloud. */

import { signal } from '@preact/signals';

export const [said, isShown] = [signal(''), signal(true)];
const saidMs = 10_000; // a screen reader needs this time to read a message
let silence: ReturnType<typeof setTimeout> | undefined;

export function announce(words: string, isSeen = true): void {
  isShown.value = isSeen;
  // Screen readers ignore unchanged text, so a repeated message gets a space at its end.
  said.value = words === said.value ? `${words}\u00a0` : words;
  clearTimeout(silence);
  silence = setTimeout(() => (said.value = ''), saidMs);
}
