/**
 * `/hold`: deciding about one held action by the link of a notice, without a key. Opening the link decides nothing, so that what
 * looks at mail before people do does no harm: it is exchanged for a cookie of that one hold, at an address without the link.
 */

import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { hasEnded } from '../chain/outcome.js';
import { actionTitle, shownTime } from '../chain/web-ui.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { contactMark, HoldLinks, type HoldRef } from '../contract/hold-link.js';
import { Problem } from '../contract/problem.js';
import { isHeldBehind, whatWasWrong } from '../notices/chain-words.js';
import { contactsOf } from '../notices/channels.js';
import type { Log } from '../service/telemetry.js';
import { readChain } from '../temporal/read.js';
import { steerAction } from '../temporal/steer.js';
import { type Authenticated, assertOwnPage } from './bearer-authentication.js';
import type { Use } from './limits.js';
import { type Html, sendPage } from './page.js';
import { problemOf } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

const cookie = 'relay-hold';
const cookieSeconds = 3600;
const decisionSchema = z.object({ decision: z.enum(['retry', 'skip']) });
const asked = z.object({ asked: z.enum(['retry', 'skip']).optional().describe('What was decided a moment ago.') });

/** What stands at the address: a hold to decide about, or why there is none. */
type Standing =
  | { name: string; contact: string; chain: ChainResource; action: ActionResource; over?: undefined }
  | { name?: string; over: string; status: 200 | 401 | 410 | 503; chain?: ChainResource; action?: ActionResource };

const foreign = {
  over: 'This is no link of a notice, or not all of it. Open the link in the notice, in full.',
  status: 401,
} as const;
const without = {
  over: 'This page is for who came by the link of a notice within the hour. Open the link again.',
  status: 401,
} as const;
const expired = { over: 'The time in which this link could be used is over.', status: 410 } as const;

export function holdRoutes(options: ApiOptions): Route[] {
  const { client, links, store, limits, log, secret, operatorEmail } = options;
  const signed = new HoldLinks(secret);
  const secure = links.api.startsWith('https:') ? ({ prefix: 'secure', secure: true } as const) : {};
  const pathOf = ({ companyId, chainId, index }: Pick<HoldRef, 'companyId' | 'chainId' | 'index'>) =>
    `/hold/${companyId}/${chainId}/${index}`;

  /** The hold of the path, if the cookie is of it. */
  const heldAt = (c: Context): HoldRef | undefined => {
    const held = signed.read(getCookie(c, cookie, secure.prefix) ?? '');
    return held && pathOf(held) === c.req.path ? held : undefined;
  };

  const standingOf = async (held: HoldRef | undefined): Promise<Standing> => {
    if (!held) return without;
    const { companyId, chainId, index, at, until } = held;
    const company = await store.companies.get(companyId);
    if (!company) return expired;
    const { name } = company;
    if (company.noticeLinks === false)
      return { name, over: `${name} has switched deciding by the links of notices off.`, status: 410 };
    if (Date.now() > until * 1000) return { name, ...expired };
    const chain = await readChain(client, links, companyId, chainId);
    const action = chain?.actions.find((action) => action.index === index);
    if (!chain || !action) return { name, over: 'The chain is not there any more.', status: 410 };
    const rule = await store.rules.get(companyId, action.relayId);
    const notify = [rule?.notify, company.notify, operatorEmail === undefined ? undefined : { emails: [operatorEmail] }];
    const contact = notify.flatMap((to) => (to ? contactsOf(to) : [])).find((contact) => contactMark(contact) === held.contact);
    if (contact === undefined) return { name, over: 'Whom this link was sent to is no contact any more.', status: 410 };
    const facts = { name, chain, action };
    if (chain.partial)
      return { ...facts, over: 'How it stands cannot be said at the moment. Look again in a minute.', status: 503 };
    const over = howItEnded(action, at);
    return over === undefined ? { ...facts, contact } : { ...facts, over, status: 200 };
  };

  /** For each hold, whoever has its link. @throws Problem rate-limited */
  const count = async (c: Context, use: Use) => {
    const { exceeded, headers } = await limits.ofUse(use, c.req.path);
    if (exceeded) throw new Problem('rate-limited', 'Too many look at this in a minute. Nothing was done.', { headers });
  };

  return [
    route('GET /hold/:link', 'openHold', 'Open the link of a notice', {
      access: 'public',
      description: 'Decides nothing. It leads to the page of that hold, with a cookie that opens that page alone.',
      answers: {
        303: ['The page of the hold.'],
        401: ['It is no link of a notice.', 'text/html'],
        410: ['Its time is over.', 'text/html'],
      },
      async handle(c) {
        const link = c.req.param('link') ?? '';
        const held = signed.read(link);
        if (!held) return sendStanding(c, foreign);
        if (Date.now() > held.until * 1000) return sendStanding(c, expired);
        const path = pathOf(held);
        setCookie(c, cookie, link, { ...secure, path, httpOnly: true, sameSite: 'Lax', maxAge: cookieSeconds });
        c.header('Cache-Control', 'no-store');
        return c.redirect(path, 303);
      },
    }),
    route('GET /hold/:companyId/:chainId/:index', 'getHold', 'The page on which to decide about a held action', {
      access: 'public',
      description: 'For who came by the link of a notice.',
      query: asked,
      answers: {
        200: ['What is held and why, or what became of it.', 'text/html'],
        401: ['There is no cookie of a link.', 'text/html'],
        410: ['The link is of no use any more.', 'text/html'],
      },
      problems: ['rate-limited', 'temporal-unavailable'],
      handle: (c, { query }) =>
        asPage(c, log, async () => {
          const held = heldAt(c);
          if (held) await count(c, 'reads');
          return sendStanding(c, await standingOf(held), query.asked);
        }),
    }),
    route('POST /hold/:companyId/:chainId/:index', 'decideHold', 'Retry or skip a held action by the form of that page', {
      access: 'public',
      answers: {
        303: ['The page again, which says what became of it.'],
        200: ['The hold is over.', 'text/html'],
        401: ['There is no cookie of a link.', 'text/html'],
        410: ['The link is of no use any more.', 'text/html'],
      },
      problems: [
        'foreign-page',
        'invalid-body',
        'body-too-large',
        'already-ended',
        'not-steerable',
        'rate-limited',
        'temporal-unavailable',
      ],
      handle: (c, { companyId }) =>
        asPage(c, log, async () => {
          assertOwnPage(c);
          const held = heldAt(c);
          if (held) await count(c, 'steering');
          const standing = await standingOf(held);
          if (standing.over !== undefined) return sendStanding(c, standing);
          const { data } = decisionSchema.safeParse(await c.req.parseBody());
          if (!data) throw new Problem('invalid-body', 'decision must be retry or skip.');
          const { chain, action, contact } = standing;
          const actor = { kind: 'link', companyId, contact } as const;
          await steerAction(options, companyId, chain, action, { verb: data.decision }, actor);
          return c.redirect(`${c.req.path}?asked=${data.decision}`, 303);
        }),
    }),
  ];
}

/** For people: whatever is wrong as a page, too. */
async function asPage(c: Context<Authenticated>, log: Log, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { problem, isExpected } = problemOf(error);
    if (!isExpected) log.error({ err: error }, 'a page could not be shown');
    const { title, detail, more } = problem;
    for (const [name, value] of Object.entries(more.headers ?? {})) c.header(name, value);
    c.header('Cache-Control', 'no-store');
    c.status(problem.status as StatusCode);
    return sendPage(c, { title, main: html`<h1>${title}</h1><p role="status">${detail}</p>` });
  }
}

/** @param at - when the hold was told. @returns what became of it since; undefined: it is held as it was. */
function howItEnded({ state, steered = [], error, reason }: ActionResource, at: string): string | undefined {
  const decision = steered.find((steered) => steered.at > at);
  const decided = decision && `${verbs[decision.verb]} by ${decision.by}, ${shownTime(decision.at)}.`;
  if (state === 'needs-attention') {
    if (!decided) return undefined;
    return `${decided} It has failed again: ${error?.message ?? 'nothing was said'}. A further notice says so.`;
  }
  const now = hasEnded(state) ? `It is ${state}${reason ? `: ${reason}` : ''}.` : 'It is being tried now.';
  return `${decided ?? 'It is not held any more.'} ${now}`;
}

const verbs = {
  retry: 'Retried',
  skip: 'Skipped',
  cancel: 'Cancelled',
  runNow: 'Run',
  reschedule: 'Moved',
  mend: 'Mended',
} as const;

/** How soon the page looks again for what became of a decision, in seconds. */
const refreshSeconds = 3;

function sendStanding(c: Context<Authenticated>, standing: Standing, asked?: 'retry' | 'skip') {
  const { name, chain, action, over } = standing;
  const isPassedOn = over === undefined && asked !== undefined;
  const isTried = action !== undefined && !hasEnded(action.state) && action.state !== 'needs-attention';
  const goesOn = chain?.actions.some(({ state }) => state === 'running');
  const isUnderWay = isPassedOn || (asked !== undefined && (isTried || goesOn));
  c.status(over === undefined ? 200 : standing.status);
  c.header('Cache-Control', 'no-store');
  if (isUnderWay) c.header('Refresh', String(refreshSeconds));
  const title = over === undefined ? 'Held: retry or skip?' : 'Nothing to decide';
  const wrong = action && whatWasWrong(action);
  const what = action && html`<p><strong>${actionTitle(action)}</strong></p>${wrong && html`<p>What was wrong: ${wrong}</p>`}`;
  const about = chain && action && facts(name ?? '', chain, action);
  const passedOn =
    isPassedOn &&
    html`<p role="status">To ${asked} it has been passed on to the chain. This page looks again by itself.
<a href="${c.req.path}">Decide anew</a></p>`;
  const said = over !== undefined && html`<p role="status">${over}</p>`;
  const decision = over === undefined && !isPassedOn && form(standing.chain, standing.action);
  const main = html`<h1>${title}</h1>${said}${passedOn}${what}${decision}${about}`;
  return sendPage(c, { title, main, forms: true });
}

function facts(name: string, { chainId, receivedAt, status }: ChainResource, action: ActionResource): Html {
  const { assignmentId, state, heldUntil, nextAttemptAt } = action;
  const rows = Object.entries({
    Company: name,
    Assignment: assignmentId,
    Chain: `${chainId}, received ${shownTime(receivedAt)}`,
    'Tried again by itself': nextAttemptAt && shownTime(nextAttemptAt),
    'Fails without a decision': heldUntil && shownTime(heldUntil),
    'The action is': state,
    'The chain is': status,
  });
  return html`<section><table>${rows.map(([name, value]) => value && html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table></section>`;
}

function form({ actions, historyFull }: ChainResource, action: ActionResource): Html {
  const { error } = action;
  const behind = actions.filter((other) => isHeldBehind(action, other)).map(actionTitle);
  const follows = behind.length > 0 ? `What is held behind it follows: ${behind.join('; ')}.` : 'Nothing is held behind it.';
  const unknown = error?.unknown && 'Nobody knows whether it took place: look there before you retry.';
  const unmended =
    error?.type === 'DataMistake' && 'What came with the request stays as it is: unless a setting is mended, it fails again.';
  const retry = html`<section><h2>Retry</h2>
<p>It is tried again, now. What was done before is not done again. If it fails again, a notice says so. ${unknown || unmended}</p>
<p><button name="decision" value="retry">Retry</button></p></section>`;
  return html`<form method="post">
${!historyFull && retry}
<section><h2>Skip</h2>
<p>The chain goes on without it: it is not done, and cannot be retried then.</p>
<p><button name="decision" value="skip">Skip</button></p></section>
</form>
<p>${follows}</p>`;
}
