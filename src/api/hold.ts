/**
 * `/hold`: somebody with the link of a notice decides about one held action, without a key. A GET of the link decides nothing,
 * because mail scanners open links, too. The GET sets a cookie for this action, and redirects to an address without the link.
 */

import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Steered } from '../chain/action-status.js';
import { refusalOf, verbsFor } from '../chain/allowed-verbs.js';
import { hasEnded, retryHelps } from '../chain/outcome.js';
import { timesIn } from '../chain/timestamp/local.js';
import { actionTitle } from '../chain/web-ui.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import type { Company } from '../contract/company.js';
import { contactMark, HoldLinks, type HoldRef } from '../contract/hold-link.js';
import { decidersOf } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { detailsOf, isHeldBehind, whatWasWrong } from '../notices/chain-words.js';
import { readChain } from '../temporal/read.js';
import { steerAction } from '../temporal/steer.js';
import { type Authenticated, assertOwnPage } from './bearer-authentication.js';
import type { Use } from './limits.js';
import { type Html, sendPage } from './page.js';
import { problemOf } from './problems.js';
import { type ApiOptions, type Route, route, steeringProblems } from './route.js';

const cookie = 'relay-hold';
const cookieSeconds = 3600;
const decisionSchema = z.object({ decision: z.enum(['retry', 'skip']) });
const askedQuery = z.object({
  asked: z.enum(['retry', 'skip']).optional().describe('The decision that was just sent.'),
  after: z.string().max(40).optional().describe('The time of the previous decision.'),
});
type Asked = z.infer<typeof askedQuery>;

type Whose = Pick<Company, 'name' | 'timeZone'>;

/** What the page shows: the held action, or the reason why no decision is possible. */
type Standing =
  | { company: Whose; contact: string; chain: ChainResource; action: ActionResource; last?: Steered; over?: undefined }
  | { company?: Whose; over: string; status: 200 | 401 | 410 | 503; chain?: ChainResource; action?: ActionResource };

const foreign = 'This is not a link of a notice, or it is incomplete. Open the whole link of the notice.';
const without = 'This page opens only for one hour after you opened the link of a notice. Open the link again.';
const expired = { over: 'This link has expired.', status: 410 } as const;

export function holdRoutes(options: ApiOptions): Route[] {
  const { client, links, store, limits, secret, operatorEmail } = options;
  const signed = new HoldLinks(secret);
  const secure = links.api.startsWith('https:') ? ({ prefix: 'secure', secure: true } as const) : {};
  const pathOf = ({ companyId, chainId, index }: Pick<HoldRef, 'companyId' | 'chainId' | 'index'>) =>
    `/hold/${companyId}/${chainId}/${index}`;

  const heldAt = (c: Context): HoldRef | undefined => {
    const held = signed.read(getCookie(c, cookie, secure.prefix) ?? '');
    return held && pathOf(held) === c.req.path ? held : undefined;
  };

  const standingOf = async (held: HoldRef | undefined): Promise<Standing> => {
    if (!held) return { over: without, status: 401 };
    const { companyId, chainId, index, at, until } = held;
    const company = await store.companies.get(companyId);
    if (!company) return expired;
    if (company.noticeLinks === false)
      return { company, over: `${company.name} does not allow decisions by the links of notices.`, status: 410 };
    if (Date.now() > until * 1000) return { company, ...expired };
    const chain = await readChain(client, links, companyId, chainId);
    const action = chain?.actions.find((action) => action.index === index);
    if (!chain || !action) return { company, over: 'The chain does not exist any more.', status: 410 };
    const rule = await store.rules.get(companyId, action.relayId);
    const notify = [rule?.notify, company.notify, operatorEmail === undefined ? undefined : { emails: [operatorEmail] }];
    const contact = notify.flatMap((to) => (to ? decidersOf(to) : [])).find((contact) => contactMark(contact) === held.contact);
    if (contact === undefined)
      return { company, over: 'The contact that received this link is not a contact any more.', status: 410 };
    const facts = { company, chain, action };
    if (chain.partial)
      return { ...facts, over: 'The state of the action is not known at the moment. Look again in a minute.', status: 503 };
    const last = action.steered?.findLast((steered) => steered.at > at);
    const over = howItEnded(action, last, company) ?? refusalOf('skip', chain, action)?.detail;
    return over === undefined ? { ...facts, contact, ...(last && { last }) } : { ...facts, over, status: 200 };
  };

  /** Counts the requests for a held action. All readers of its link share one limit. @throws Problem rate-limited */
  const count = async (c: Context, use: Use) => {
    const { exceeded, headers } = await limits.ofUse(use, c.req.path);
    const often = 'There were too many requests for this page within a minute. Nothing was done.';
    if (exceeded) throw new Problem('rate-limited', often, { headers });
  };

  const deciding = "Retry or skip a held action with the form on the action's page";
  return [
    route.anyone('GET /hold/:link', 'openHold', 'Open the link of a notice', {
      onPage: true,
      description: 'This request decides nothing. It sets a cookie for the page of the action, and redirects to that page.',
      answers: {
        303: ['A redirect to the page of the action.'],
        401: ['This is not the link of a notice.', 'text/html'],
        410: ['The link has expired.', 'text/html'],
      },
      async handle(c) {
        const link = c.req.param('link') ?? '';
        const held = signed.read(link);
        if (!held) return sendStanding(c, { over: foreign, status: 401 });
        if (Date.now() > held.until * 1000) return sendStanding(c, expired);
        const path = pathOf(held);
        setCookie(c, cookie, link, { ...secure, path, httpOnly: true, sameSite: 'Lax', maxAge: cookieSeconds });
        c.header('Cache-Control', 'no-store');
        return c.redirect(path, 303);
      },
    }),
    route.anyone('GET /hold/:companyId/:chainId/:index', 'getHold', 'Open the page of a held action', {
      onPage: true,
      description: 'Needs the cookie that `GET /hold/{link}` sets.',
      query: askedQuery,
      answers: {
        200: ['A page with the action, and with the possible decisions or the result.', 'text/html'],
        401: ['The cookie is missing.', 'text/html'],
        410: ['The link is not valid any more.', 'text/html'],
      },
      problems: ['rate-limited', 'temporal-unavailable'],
      async handle(c, { query }) {
        const held = heldAt(c);
        if (held) await count(c, 'reads');
        return sendStanding(c, await standingOf(held), query);
      },
    }),
    route.anyone('POST /hold/:companyId/:chainId/:index', 'decideHold', deciding, {
      onPage: true,
      answers: {
        303: ['A redirect to the page, which shows the result.'],
        200: ['The action is no longer held.', 'text/html'],
        401: ['The cookie is missing.', 'text/html'],
        410: ['The link is not valid any more.', 'text/html'],
      },
      problems: [...steeringProblems, 'foreign-page', 'body-too-large', 'rate-limited'],
      async handle(c, { companyId }) {
        assertOwnPage(c);
        const held = heldAt(c);
        if (held) await count(c, 'steering');
        const standing = await standingOf(held);
        if (standing.over !== undefined) return sendStanding(c, standing);
        const { data } = decisionSchema.safeParse(await c.req.parseBody());
        if (!data) throw new Problem('invalid-body', 'decision must be retry or skip.');
        const { chain, action, contact, last } = standing;
        const actor = { kind: 'link', companyId, contact } as const;
        await steerAction(options, companyId, chain, action, { verb: data.decision }, actor);
        return c.redirect(`${c.req.path}?${new URLSearchParams({ asked: data.decision, after: last?.at ?? '' })}`, 303);
      },
    }),
  ];
}

/** Shows errors as a page. Add this middleware before `limitFailures`, which turns a 401 into a 429. */
export const sayOnPage: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.error) return;
  const { status, title, detail } = problemOf(c.error).problem;
  c.status(status as StatusCode);
  c.res = await sendPage(c, { title, main: html`<h1>${title}</h1><p role="status">${detail}</p>` });
};

/** @param last - the last decision since the notice. @returns why nobody can decide; undefined if the action needs attention. */
function howItEnded(action: ActionResource, last: Steered | undefined, { timeZone }: Whose): string | undefined {
  const { state, result, reason = result?.note } = action;
  if (state === 'needs-attention') return undefined;
  const now = hasEnded(state) ? `It is ${state}${reason ? `: ${reason}` : ''}.` : 'It is being tried now.';
  return `${last ? decided(last, timeZone) : 'The action is not held any more.'} ${now}`;
}

function decided({ verb, by, at }: Steered, timeZone: string): string {
  return `${verbs[verb]} by ${by}, ${timesIn(timeZone)(at)}.`;
}

const verbs = {
  retry: 'Retried',
  skip: 'Skipped',
  cancel: 'Cancelled',
  runNow: 'Run',
  reschedule: 'Moved',
  mend: 'Edited',
} as const;

/** The page reloads after this time. By then, the decision has usually had its effect. */
const refreshSeconds = 3;

function sendStanding(c: Context<Authenticated>, standing: Standing, { asked, after = '' }: Asked = {}) {
  const { company, chain, action, over } = standing;
  const last = over === undefined ? standing.last : undefined;
  const isPassedOn = over === undefined && asked !== undefined && (last?.at ?? '') <= after;
  const isTried = action !== undefined && !hasEnded(action.state) && action.state !== 'needs-attention';
  const goesOn = chain?.actions.some(({ state }) => state === 'running');
  const isUnderWay = isPassedOn || (asked !== undefined && (isTried || goesOn));
  c.status(over === undefined ? 200 : standing.status);
  c.header('Cache-Control', 'no-store');
  if (isUnderWay) c.header('Refresh', String(refreshSeconds));
  const held = last ? 'It failed again: retry or skip?' : 'Held: retry or skip?';
  const title = over === undefined ? held : 'Nothing to decide';
  const wrong = action && whatWasWrong(action);
  const remedy = action?.error?.remedy;
  const [details] = detailsOf(action?.error);
  const what =
    action &&
    html`<p><strong>${actionTitle(action)}</strong></p>${wrong && html`<p>What was wrong: ${wrong}</p>`}
${over === undefined && remedy && html`<p>What to do: ${remedy}</p>`}
${details && html`<details><summary>Details</summary><p>${details}</p></details>`}`;
  const about = company && chain && action && facts(company, chain, action);
  const passedOn =
    isPassedOn &&
    html`<p role="status">Your decision to ${asked} is sent to the chain. This page reloads by itself.
<a href="${c.req.path}">Decide again</a></p>`;
  const before = company && last && !isPassedOn && `${decided(last, company.timeZone)} It failed again.`;
  const said = (over ?? before) && html`<p role="status">${over ?? before}</p>`;
  const decision = over === undefined && !isPassedOn && decisionForm(standing.chain, standing.action);
  const main = html`<h1>${title}</h1>${said}${passedOn}${what}${decision}${about}`;
  return sendPage(c, { title, main, forms: true });
}

function facts({ name, timeZone }: Whose, { chainId, receivedAt, status }: ChainResource, action: ActionResource): Html {
  const shown = timesIn(timeZone);
  const { assignmentId, state, heldUntil, nextAttemptAt } = action;
  const rows = Object.entries({
    Company: name,
    Assignment: assignmentId,
    Chain: `${chainId}, received ${shown(receivedAt)}`,
    'Next automatic retry': nextAttemptAt && shown(nextAttemptAt),
    'Fails if nobody decides': heldUntil && shown(heldUntil),
    'The action is': state,
    'The chain is': status,
  });
  return html`<section><table>${rows.map(([name, value]) => value && html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table></section>`;
}

export function decisionForm(chain: ChainResource, action: ActionResource): Html {
  const { error } = action;
  const behind = chain.actions.filter((other) => isHeldBehind(action, other)).map(actionTitle);
  const follows =
    behind.length > 0 ? `These actions wait for this action: ${behind.join('; ')}.` : 'No other action waits for this action.';
  const unknown = error?.unknown && 'The outcome of the last attempt is unknown: check the other system before you retry.';
  const helps = retryHelps(action);
  const unmended = !helps && 'A retry uses the same data: the action fails again unless a setting was fixed.';
  const retry = html`<section><h2>Retry</h2>
<p>The action runs again now. Actions that are done do not run again. If it fails again, you get a notice. ${unknown || unmended}</p>
<p><button name="decision" value="retry">Retry</button></p></section>`;
  const skip = html`<section><h2>Skip</h2>
<p>The chain continues without this action. You cannot retry it later.</p>
<p><button name="decision" value="skip">Skip</button></p></section>`;
  const both = verbsFor(chain, action).includes('retry') ? [retry, skip] : [skip];
  return html`<form method="post">${helps ? both : both.reverse()}</form>
<p>${follows}</p>`;
}
