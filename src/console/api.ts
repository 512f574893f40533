/** The relay's API, asked by the session of whoever looks. What it answers has been through its own schemas: it is not checked again. */

import { signal } from '@preact/signals';
import type { z } from 'zod';
import type { problemSchema } from '../contract/problem.js';

export type ProblemDocument = z.infer<typeof problemSchema>;

/** What the API refuses, or that it cannot be reached. */
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

/** Whether the session is over: then nothing is asked any more until somebody comes back to the page, having signed in again. */
export const sessionIsOver = signal(false);

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @throws Refused */
export async function ask<Body = void>(method: Method, path: string, body?: object): Promise<Body> {
  const response = await fetch(path, {
    method,
    // What is left out of a PATCH stays, within its sections, too.
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
  const detail = `The relay, or what is in front of it, answered ${status}.`;
  return new Refused(
    problem ?? { type: 'about:blank', title: 'Something went wrong', status, detail },
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  );
}

const unknownOutcome = 'It does not answer. Whether this was done is not known: look before you try again.';

const unreachable: ProblemDocument = {
  type: 'about:blank',
  title: 'The relay cannot be reached',
  status: 0,
  detail: 'It does not answer. What you see may be old; it is asked again.',
};
