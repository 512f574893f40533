/** URLs of things at an outside system: a base URL from the settings and an id from the event's data. */

import { ConnectorError } from './call.js';

/**
 * `{baseUrl}/{segments…}` with every segment percent-encoded. The base keeps its path and query, a slash at its end is dropped.
 * @throws ConnectorError `permanent` for a segment that no URL can carry: blank, `.` or `..` (servers read `%2e` as a dot, too)
 */
export function resourceUrl(baseUrl: string, ...segments: string[]): URL {
  const url = new URL(baseUrl);
  url.pathname = [url.pathname.replace(/\/+$/, ''), ...segments.map(encode)].join('/');
  url.hash = '';
  return url;
}

function encode(segment: string): string {
  // A lone surrogate has no UTF-8 form.
  if (segment.trim() === '' || segment === '.' || segment === '..' || /\p{Cs}/u.test(segment)) {
    throw new ConnectorError(
      'permanent',
      `${JSON.stringify(segment)} cannot be used as an id in a URL; check the id in the request`,
    );
  }
  return encodeURIComponent(segment);
}
