/** URLs of things at an outside system: a base URL from the settings and an id from the event's data. */

import { ConnectorError } from './call.js';

/**
 * `{baseUrl}/{segments…}` with every segment percent-encoded; a slash at the end of the base, its path and its query are kept right.
 * @throws ConnectorError `permanent` for a segment that no URL can carry: blank, `.` and `..` (servers read `%2e` as a dot, too)
 */
export function resourceUrl(baseUrl: string, ...segments: string[]): URL {
  const url = new URL(baseUrl);
  url.pathname = [url.pathname.replace(/\/+$/, ''), ...segments.map(encode)].join('/');
  url.hash = '';
  return url;
}

function encode(segment: string): string {
  // a lone surrogate has no UTF-8 form
  if (segment.trim() === '' || segment === '.' || segment === '..' || /\p{Cs}/u.test(segment)) {
    throw new ConnectorError(
      'permanent',
      `${JSON.stringify(segment)} cannot be used as an id in a URL; check the id in the request`,
    );
  }
  return encodeURIComponent(segment);
}
