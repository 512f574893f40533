/** Pieces of what outside systems say, made fit for an error message: one line, short, without secrets. */

import { cutShort } from '../chain/text.js';

const CONTROL_OR_SPACE = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}]+/gu;

/**
 * At most `max` characters of `text`, control characters and line breaks turned into single spaces, every secret (plain,
 * percent-encoded or as it stands inside JSON) replaced by `***`.
 */
export function excerpt(text: string, { secrets = [], max = 200 }: { secrets?: string[]; max?: number } = {}): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.replace(/\p{Cs}/gu, '')),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const longestFirst = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length);
  const clean = longestFirst
    .reduce((rest, form) => rest.replaceAll(form, '***'), text)
    .replace(CONTROL_OR_SPACE, ' ')
    .trim();
  return cutShort(clean, max);
}
