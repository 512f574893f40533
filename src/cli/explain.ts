/** What went wrong, in words on standard error: what, where, and what to do next. */

import { problemTypeList } from '../contract/problem-types.js';
import type { Address } from './address.js';
import { type Problem, Refused, Unreachable } from './api.js';
import { type ExitCode, exitCodes, NotConfirmed, UsageError } from './exit-codes.js';

export interface Explanation {
  exitCode: ExitCode;
  lines: readonly string[];
}

/** @returns undefined for an error that nobody expected. */
export function explain(error: unknown): Explanation | undefined {
  if (error instanceof UsageError || error instanceof NotConfirmed)
    return { exitCode: exitCodes.usage, lines: [error.message.replace(/(?<!\?)$/, '.')] };
  if (error instanceof Unreachable) return { exitCode: exitCodes.unreachable, lines: [error.message, ...howToReach(error)] };
  if (error instanceof Refused) {
    const next = error.nextStep ?? nextStep(error);
    const more = explanationOf(error);
    return {
      exitCode: exitCodes.refused,
      lines: [...problemLines(error.problem), ...(next ? [next] : []), ...(more ? [`More: ${more}`] : [])],
    };
  }
  return undefined;
}

/** What the problem is, and every mistake with its place. */
export function problemLines({ title, status, detail, errors }: Problem): string[] {
  const width = Math.max(0, ...errors.map(({ pointer }) => pointer.length));
  const said = withoutErrors(detail, errors);
  return [
    `${title} (${status})${said === '' ? '' : `: ${said}`}`,
    ...errors.map((error) => `  ${(error.pointer || '(all)').padEnd(width)}  ${error.detail}`),
  ];
}

/** The detail up to where it lists the errors, which stand below it. */
function withoutErrors(detail: string, errors: Problem['errors']): string {
  const first = errors[0];
  const at = first?.pointer ? detail.indexOf(`${first.pointer} ${first.detail}`) : -1;
  return (at < 0 ? detail : detail.slice(0, at)).trim();
}

function howToReach({ address }: Unreachable): string[] {
  return address.loopback
    ? ['Start a relay here with `npm start`, or say where it is with --url or RELAY_URL.']
    : ['Say where the API is with --url or RELAY_URL.'];
}

/** The page about problems of this kind. */
function explanationOf({ problem: { type }, address }: Refused): string | undefined {
  if (/^https?:/.test(type)) return type;
  return type.startsWith('/') ? address.url + type : undefined;
}

function nextStep({ problem, retryAfter, address, bearer }: Refused): string | undefined {
  switch (problem.status) {
    case 401:
      return unauthorized(address, bearer);
    case 404:
      return 'See what there is: npx relay companies list, rules list <companyId>, chains list <companyId>.';
    case 429:
    case 503:
      return `Try again${retryAfter ? ` in ${retryAfter} seconds` : ' in a moment'}.`;
    case 500:
      return "The relay's log says more.";
    case 400: // Its errors say what to do.
      return undefined;
    default:
      return problemTypeList.find(({ slug }) => problem.type.endsWith(`/${slug}`))?.whatToDo;
  }
}

function unauthorized({ url, credential }: Address, bearer: boolean): string {
  if (!credential || !bearer)
    return 'Set RELAY_ADMIN_TOKEN, or RELAY_KEY for the chains of one company. For a relay on this machine, run this where its data directory (.relay) is, or set RELAY_DATA_DIR.';
  if (credential.kind === 'key')
    return `${credential.from} was sent: a company's key opens its own chains only; all else needs RELAY_ADMIN_TOKEN.`;
  return `What ${credential.from} holds was sent, and is not the admin token of the relay at ${url}. Set RELAY_ADMIN_TOKEN to that token, or for a relay on this machine unset it and set RELAY_DATA_DIR to its data directory.`;
}
