/** What went wrong, in words on standard error: what, where, and what to do next. */

import { problemTypeList } from '../contract/problem-types.js';
import { type Address, type Problem, Refused, Unreachable } from './api.js';
import type { Session } from './session.js';
import { exitCodes, NotConfirmed, UsageError } from './terminal.js';
import { aligned, type Line } from './text.js';

/** @throws the error, if nobody expected it. */
export function explain(error: unknown, session: Session): { exitCode: number; lines: Line[] } {
  if (error instanceof UsageError || error instanceof NotConfirmed)
    return { exitCode: exitCodes.usage, lines: [error.message.replace(/(?<!\?)$/, '.')] };
  if (error instanceof Unreachable) {
    const start = session.api.address.loopback
      ? 'Start a relay here with `npm start`, or say where it is'
      : 'Say where the API is';
    return { exitCode: exitCodes.unreachable, lines: [error.message, `${start} with --url or RELAY_URL.`] };
  }
  if (error instanceof Refused) {
    const next = error.question.nextStep?.(error.problem) ?? nextStep(error, session.api.address);
    const { type } = error.problem;
    const page = type.startsWith('/') ? session.api.address.url + type : type;
    return { exitCode: exitCodes.refused, lines: [...problemLines(error.problem), ...(next ? [next] : []), `More: ${page}`] };
  }
  throw error;
}

/** What the problem is, and every mistake with its place. */
export function problemLines({ title, status, detail, errors = [] }: Problem): Line[] {
  // The detail lists the errors too, which stand below it.
  const [first] = errors;
  const end = first?.pointer ? detail.indexOf(`${first.pointer} ${first.detail}`) : -1;
  const said = (end < 0 ? detail : detail.slice(0, end)).trim();
  return [`${title} (${status})${said === '' ? '' : `: ${said}`}`, ...issueLines(errors)];
}

/** Places in a chain or in settings, with what is said of each. */
export function issueLines(issues: readonly { pointer: string; detail: string }[]): Line[] {
  return aligned(
    issues.map(({ pointer, detail }) => [pointer || '(all)', detail]),
    '  ',
  );
}

function nextStep({ problem, retryAfter, question }: Refused, address: Address): string | undefined {
  const { status, type } = problem;
  if (status === 400) return undefined; // Its errors say what to do.
  if (status === 401) return unauthorized(address, question.bearer ?? true);
  if (status === 404) return 'See what there is: npx relay companies list, rules list <companyId>, chains list <companyId>.';
  if (status === 429 || status === 503) return `Try again${retryAfter ? ` in ${retryAfter} seconds` : ' in a moment'}.`;
  if (status === 500) return "The relay's log says more.";
  return problemTypeList.find(({ slug }) => type.endsWith(`/${slug}`))?.whatToDo;
}

function unauthorized({ url, credential }: Address, bearer: boolean): string {
  const here = 'For a relay on this machine, run this where its data directory (.relay) is, or set RELAY_DATA_DIR.';
  if (!credential || !bearer) return `Set RELAY_ADMIN_TOKEN, or RELAY_KEY for the chains of one company. ${here}`;
  const { from, kind } = credential;
  if (kind === 'key') return `${from} was sent: a company's key opens its own chains only; all else needs RELAY_ADMIN_TOKEN.`;
  const wrong = `What ${from} holds was sent, and is not the admin token of the relay at ${url}. Set RELAY_ADMIN_TOKEN to that`;
  return `${wrong} token, or for a relay on this machine unset it and set RELAY_DATA_DIR to its data directory.`;
}
