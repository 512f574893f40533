/** Problems that several endpoints answer with, and what zod's mistakes become in them. */

import type { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { jsonPointer } from '../contract/json.js';
import { Problem } from '../contract/problem.js';

/** 404; only for those who are authenticated. `what` is known to them: `rule 4711`. */
export function notFound(what: string): Problem {
  return new Problem('not-found', `There is no ${what}.`);
}

/** 503, to be tried again soon. */
export function temporalUnavailable(detail: string): Problem {
  return new Problem('temporal-unavailable', detail, { headers: { 'Retry-After': '10' } });
}

/** 400 for a body of the right form with mistakes in it. */
export function invalid(errors: readonly Issue[]): Problem {
  const detail = errors.map((error) => `${error.pointer === '' ? 'the body' : error.pointer} ${error.detail}`).join('; ');
  return new Problem('invalid-body', detail, { errors });
}

/** What zod found, each mistake at its place. Never shows a value, which may be secret. */
export function remarksOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: jsonPointer([...issue.path, key]),
        detail: 'is not a field that is known here',
      }));
    }
    const detail = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ pointer: jsonPointer(issue.path), detail }];
  });
}

/** Words for zod's `error` option: a field that is not there is required, rather than of the wrong type. */
export function required(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}
