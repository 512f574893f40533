/** Calls the relay's API with the session cookie. Answers are not validated: their types come from the API's own schemas. */

import { signal } from '@preact/signals';
import type { z } from 'zod';
import type { problemSchema } from '../contract/problem.js';

export type ProblemDocument = z.infer<typeof problemSchema>;

/** The API refused the request, or did not answer (status 0). */
export class Refused extends Error {
  constructor(
    readonly problem: ProblemDocument,
    readonly retryAfterSeconds?: number,
  ) {
    super(problem.detail);
  }

  is(slug: string): boolean {
    return this.problem.type === `/problems/${slug}`;
  }
}

/** If the session is over, pages poll only when they get the focus. By then, the user may have signed in again. */
export const sessionIsOver = signal(false);

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @throws Refused */
export async function ask<Body = void>(method: Method, path: string, body?: object): Promise<Body> {
  const response = await fetch(path, {
    method,
    // A merge patch keeps omitted fields, also in nested objects.
    headers: body ? { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' } : {},
    body: body && JSON.stringify(body),
  }).catch(() => undefined);
  if (!response) throw new Refused(method === 'GET' ? unreachable : { ...unreachable, detail: unknownOutcome });
  sessionIsOver.value = response.status === 401;
  if (!response.ok) throw await refusal(response);
  return response.status === 204 ? (undefined as Body) : response.json();
}

async function refusal(response: Response): Promise<Refused> {
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json');
  const problem: ProblemDocument | undefined = isProblem ? await response.json().catch(() => undefined) : undefined;
  const { status } = response;
  const detail = `The relay, or a server between you and the relay, answered with error ${status}.`;
  return new Refused(
    problem ?? { type: 'about:blank', title: 'Something went wrong', status, detail },
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  );
}

const unknownOutcome = 'The relay does not answer, but it may have received your request. Check the result before you try again.';

const unreachable: ProblemDocument = {
  ...{ type: 'about:blank', title: 'The relay cannot be reached', status: 0 },
  detail: 'The relay does not answer, so this page may be out of date. The page tries again automatically.',
};
