/** The text of an error on standard error: the problem, its place, and the next step. */

import { problemTypeList } from '../contract/problem-types.js';
import { type Address, type Problem, Refused, Unreachable } from './api.js';
import type { Session } from './session.js';
import { exitCodes, NotConfirmed, UsageError } from './terminal.js';
import { aligned, type Line } from './text.js';

/** @throws the given error, if the error comes neither from the command line nor from the API. */
export function explain(error: unknown, session: Session): { exitCode: number; lines: Line[] } {
  if (error instanceof UsageError || error instanceof NotConfirmed)
    return { exitCode: exitCodes.usage, lines: [error.message.replace(/(?<!\?)$/, '.')] };
  if (error instanceof Unreachable) {
    const start = session.api.address.loopback
      ? 'Start a relay here with `npm start`, or set the address of a relay'
      : 'Set the address of the API';
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

export function problemLines({ title, status, detail, errors = [] }: Problem): Line[] {
  // The detail may end with a list of the errors. Cut it off there, because the errors are printed below the detail.
  const [first] = errors;
  const end = first?.pointer ? detail.indexOf(`${first.pointer} ${first.detail}`) : -1;
  const said = (end < 0 ? detail : detail.slice(0, end)).trim();
  return [`${title} (${status})${said === '' ? '' : `: ${said}`}`, ...issueLines(errors)];
}

export function issueLines(issues: readonly { pointer: string; detail: string }[]): Line[] {
  const pairs = issues.map(({ pointer, detail }) => [pointer || '(all)', detail] as const);
  return aligned(pairs, '  ');
}

function nextStep({ problem, retryAfter, question }: Refused, address: Address): string | undefined {
  const { status, type } = problem;
  if (status === 400) return undefined; // The errors of the problem say what to do.
  if (status === 401) return unauthorized(address, question.bearer ?? true);
  if (status === 404) return 'List what exists: npx relay companies list, rules list <companyId>, chains list <companyId>.';
  if (status === 429 || status === 503) return `Try again${retryAfter ? ` in ${retryAfter} seconds` : ' in a moment'}.`;
  if (status === 500) return "See the relay's log.";
  return problemTypeList.find(({ slug }) => type.endsWith(`/${slug}`))?.whatToDo;
}

function unauthorized({ url, credential }: Address, bearer: boolean): string {
  const here =
    'For a relay on this machine, run the command in the folder that has its data directory (.relay), or set RELAY_DATA_DIR.';
  if (!credential || !bearer) return `Set RELAY_ADMIN_TOKEN, or RELAY_KEY for one company. ${here}`;
  const { from, kind } = credential;
  if (kind === 'key')
    return `The relay refused the key in ${from}. A key is valid for its own company only; for everything else set RELAY_ADMIN_TOKEN.`;
  const wrong = `The token in ${from} is not an admin token of the relay at ${url}. Set RELAY_ADMIN_TOKEN to a valid token.`;
  return `${wrong} For a relay on this machine, you can instead remove RELAY_ADMIN_TOKEN and set RELAY_DATA_DIR to the data directory.`;
}
