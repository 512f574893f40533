/**
 * `/hold`: somebody with the link of a notice decides about one held action, without a key. A GET of the link decides nothing,
 * because mail scanners open links, too. The GET sets a cookie for this action, and redirects to an address without the link.
 * After a decision, the page waits a few seconds for the result.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Steered } from '../chain/action-status.js';
import { refusalOf, verbsFor } from '../chain/allowed-verbs.js';
import { chainOfWorkflow, chainPage } from '../chain/chain.js';
import { helpFor } from '../chain/failure-words.js';
import { type Fields, fieldAt } from '../chain/fields.js';
import { type ActionState, type ChainStatus, foundNobody, hasEnded, isToRedo, retryHelps } from '../chain/outcome.js';
import { stepsText } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import {
  byWords,
  doneTitle,
  explained,
  fieldWords,
  foundNobodyWords,
  labelled,
  namedWords,
  notDoneTitle,
  quotedLabel,
  sentence,
  stepTitle,
  technicalDetails,
  toDoFirst,
} from '../chain/words.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import type { Company } from '../contract/company.js';
import { contactMark, fieldsByLink, HoldLinks, type HoldRef } from '../contract/hold-link.js';
import { decidersOf } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { isHeldBehind } from '../notices/chain-words.js';
import type { HeldActions } from '../temporal/causes.js';
import { readFields, readOldNames } from '../temporal/mend.js';
import { readChain } from '../temporal/read.js';
import { steerAction } from '../temporal/steer.js';
import { type Authenticated, assertOwnPage } from './bearer-authentication.js';
import type { Use } from './limits.js';
import { type Html, sendPage } from './page.js';
import { problemOf } from './problems.js';
import { type ApiOptions, type Route, route, steeringProblems } from './route.js';

const cookie = 'relay-hold';
const cookieSeconds = 3600;
const decisions = z.enum(['retry', 'skip', 'mend']);
const formSchema = z.object({ decision: decisions, allActions: z.literal('on').optional() }).catchall(z.string().max(20_000));
const askedQuery = z.object({
  asked: decisions.optional().describe('The decision that was just sent.'),
  after: z.string().max(40).optional().describe('The time of the previous decision.'),
});
type Asked = z.infer<typeof askedQuery>;
type Whose = Pick<Company, 'companyId' | 'name' | 'timeZone' | 'noticeEdits'>;

/** The content of the page: the held action, or the reason why no decision is possible. */
type Standing =
  | { company: Whose; contact: string; chain: ChainResource; action: ActionResource; last?: Steered; over?: undefined }
  | { company?: Whose; over: string; status: 200 | 401 | 410 | 503; chain?: ChainResource; action?: ActionResource };

const foreign = 'This is not a link from a notice, or the link is incomplete. Open the whole link from the notice.';
const without =
  'You can use this page for one hour after you open the link from a notice. The hour is over, or you did not open the link in this browser. Open the link again.';
const expired = { over: 'This link has expired.', status: 410 } as const;

export function holdRoutes(options: ApiOptions, heldActions: HeldActions): Route[] {
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
      return {
        company,
        over: `You cannot decide with the link in a notice. ${company.name} does not allow this.`,
        status: 410,
      };
    if (Date.now() > until * 1000) return { company, ...expired };
    const chain = await readChain(client, links, companyId, chainId);
    const action = chain?.actions.find((action) => action.index === index);
    if (!chain || !action) return { company, over: 'The chain does not exist any more.', status: 410 };
    const rule = await store.rules.get(companyId, action.relayId);
    const notify = [rule?.notify, company.notify, operatorEmail === undefined ? undefined : { emails: [operatorEmail] }];
    const contact = notify.flatMap((to) => (to ? decidersOf(to) : [])).find((contact) => contactMark(contact) === held.contact);
    if (contact === undefined) return { company, over: 'This link was sent to a contact that was removed.', status: 410 };
    const facts = { company, chain, action };
    if (chain.partial)
      return { ...facts, over: 'The state of the step is not known at the moment. Look again in a minute.', status: 503 };
    const last = action.steered?.findLast((steered) => steered.at > at);
    const over = howItEnded(action, last, company) ?? refusalOf('skip', chain, action)?.detail;
    return over === undefined ? { ...facts, contact, ...(last && { last }) } : { ...facts, over, status: 200 };
  };

  /** Waits until the decision has a result, but not longer than `patienceMs`. */
  const settled = async (held: HoldRef | undefined, asked: Asked): Promise<Standing> => {
    for (const end = Date.now() + patienceMs; ; await sleep(pollMs)) {
      const standing = await standingOf(held);
      if (!isUnderWay(standing, asked) || Date.now() > end) return standing;
    }
  };

  /** The fields that the reader may correct. Undefined if a correction is not possible, or if the company forbids corrections. */
  const fixOf = async ({ company, chain, action, over }: Standing): Promise<Fix | undefined> => {
    if (!company?.noticeEdits || !chain || !action || over !== undefined || !verbsFor(chain, action).includes('mend'))
      return undefined;
    const all = fieldsByLink(action);
    if (all.length === 0) return undefined;
    const read = await readFields(client, chain, action);
    // A send needs only one of the two fields for groups.
    const { groupId, sendToGroups } = read.fields;
    const spare = !groupId ? 'groupId' : !sendToGroups ? 'sendToGroups' : undefined;
    return { names: all.filter((name) => name !== spare), ...read };
  };

  /** The texts of other steps with the assignment number from before the correction. */
  const keptOf = async ({ chain, action, over }: Standing) => {
    if (!chain || !action?.mends || over === undefined || chain.partial) return undefined;
    const { open, used } = await readOldNames(client, chain, action);
    return { open: namedWords(open), used: namedWords(used) };
  };

  /** @throws Problem invalid-body, forbidden */
  const mendAs = (fix: Fix | undefined, { allActions, ...texts }: Record<string, string | undefined>) => {
    if (!fix) throw new Problem('forbidden', 'With this link, you cannot correct the step. Nothing was changed.');
    const foreign = Object.keys(texts).find((name) => !fix.names.includes(name));
    if (foreign !== undefined)
      throw new Problem(
        'forbidden',
        `With this link, you cannot change “${fieldWords[foreign] ?? foreign}”. Nothing was changed.`,
      );
    const given = Object.entries(texts).map(([name, text = '']) => [name, text.replaceAll('\r\n', '\n')] as const);
    const fields = Object.fromEntries(given.filter(([name, text]) => text !== String(fix.fields[name] ?? '')));
    if (Object.keys(fields).length === 0)
      throw new Problem('invalid-body', 'No field was changed. Correct a field, then send the form again.');
    const { platformAssignmentId } = fields;
    if (allActions === undefined || fix.sameAssignment.length === 0 || platformAssignmentId === undefined)
      return { verb: 'mend', fields } as const;
    const others = fix.sameAssignment.map((index) => ({ index, fields: { platformAssignmentId } }));
    return { verb: 'mend', fields, allActions: true, others } as const;
  };

  /** Counts the requests for a held action. All readers of the link share one limit. @throws Problem rate-limited */
  const count = async (c: Context, use: Use) => {
    const { exceeded, headers } = await limits.ofUse(use, c.req.path);
    const often = 'There were too many requests for this page within a minute. Nothing was done.';
    if (exceeded) throw new Problem('rate-limited', often, { headers });
  };

  const deciding = "Retry, skip or correct an action with the form on the action's page";
  return [
    route.anyone('GET /hold/:link', 'openHold', 'Open the link from a notice', {
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
    route.anyone('GET /hold/:companyId/:chainId/:index', 'getHold', 'Open the page of an action that needs attention', {
      onPage: true,
      description: 'Needs the cookie that `GET /hold/{link}` sets.',
      query: askedQuery,
      answers: {
        200: ['A page with the action, the possible decisions and the result of the last decision.', 'text/html'],
        401: ['The cookie is missing.', 'text/html'],
        410: ['The link is not valid any more.', 'text/html'],
      },
      problems: ['rate-limited', 'temporal-unavailable'],
      async handle(c, { query }) {
        const held = heldAt(c);
        if (held) await count(c, 'reads');
        const standing = await settled(held, query);
        const [fix, kept] = await Promise.all([fixOf(standing).catch(() => undefined), keptOf(standing).catch(() => undefined)]);
        if (standing.over !== undefined && standing.company) void heldActions.refresh(standing.company.companyId);
        return sendStanding(c, standing, { asked: query, fix, kept });
      },
    }),
    route.anyone('POST /hold/:companyId/:chainId/:index', 'decideHold', deciding, {
      onPage: true,
      answers: {
        303: ['A redirect to the page, which shows the result.'],
        200: ['The step needs no attention any more.', 'text/html'],
        400: ['The correction is not valid. The page shows the reason and the form.', 'text/html'],
        401: ['The cookie is missing.', 'text/html'],
        410: ['The link is not valid any more.', 'text/html'],
      },
      problems: [...steeringProblems, 'forbidden', 'foreign-page', 'body-too-large', 'rate-limited'],
      async handle(c, { companyId }) {
        assertOwnPage(c);
        const held = heldAt(c);
        if (held) await count(c, 'steering');
        const standing = await standingOf(held);
        if (standing.over !== undefined) return sendStanding(c, standing);
        const { data } = formSchema.safeParse(await c.req.parseBody());
        if (!data)
          throw new Problem(
            'invalid-body',
            'The relay could not read the form. Perhaps a text is too long: each field can have at most 20,000 characters. Nothing was changed.',
          );
        const { chain, action, contact, last } = standing;
        const { decision, ...form } = data;
        const actor = { kind: 'link', companyId, contact } as const;
        const fix = decision === 'mend' ? await fixOf(standing) : undefined;
        try {
          const asked = decision === 'mend' ? mendAs(fix, form) : { verb: decision };
          await steerAction(options, companyId, chain, action, asked, actor);
        } catch (error) {
          if (!fix || !(error instanceof Problem) || error.slug !== 'invalid-body') throw error;
          const problem = error.more.errors?.map(inWords).join(' ') ?? error.detail;
          return sendStanding(c, standing, { fix: { ...fix, texts: form }, problem });
        }
        return c.redirect(`${c.req.path}?${new URLSearchParams({ asked: decision, after: last?.at ?? '' })}`, 303);
      },
    }),
  ];
}

/** Shows errors as a page. Add this middleware before `limitFailures`: then it also shows the 429 that replaces a 401. */
export const sayOnPage: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.error) return;
  const { status, title, detail } = problemOf(c.error).problem;
  c.status(status as StatusCode);
  c.res = await sendPage(c, { title, main: html`<h1>${title}</h1><p role="status">${detail}</p>` });
};

/** @param last - the last decision after the notice. @returns the reason if nobody can decide now. */
function howItEnded(action: ActionResource, last: Steered | undefined, { timeZone }: Whose): string | undefined {
  const { state, result, reason = result?.note } = action;
  if (state === 'needs-attention') return undefined;
  const said = last ? decided(last, timeZone) : 'The step needs no attention any more.';
  if (state === 'skipped') return said;
  if (foundNobody(action)) return `${said} ${foundNobodyWords}`;
  if (!hasEnded(state)) return `${said} The step has not ended yet.`;
  return `${said} ${sentence(labelled(`The state of the step is “${words(state)}”${reason ? `: ${reason}` : ''}`))}`;
}

const decided = ({ verb, by, at }: Steered, timeZone: string): string =>
  `${verbs[verb]} ${byWords(by).replace(/^with the link in a notice to (.*)/, 'by $1, who used the link in a notice')}, ${timesIn(timeZone)(at)}.`;

const verbs = {
  retry: 'Retried',
  skip: 'Skipped',
  cancel: 'Cancelled',
  runNow: 'Started',
  reschedule: 'Rescheduled',
  mend: 'Corrected',
} as const;

const words = (state: string) => state.replaceAll('-', ' ');

interface Fix {
  names: string[];
  fields: Fields;
  sameAssignment: number[];
  naming: { index: number; field: string }[]; // the texts that contain the assignment number
  texts?: Record<string, string | undefined>; // the texts of a refused form
}

/** The texts with the old assignment number. `open`: of steps that have not ended. `used`: of steps that already ran. */
type Kept = { open: string; used: string };

/** For example `“Within (miles)” must be a number of miles.` for the pointer `/fields/sendRadius`. */
function inWords({ pointer, detail }: { pointer: string; detail: string }): string {
  return sentence(`${quotedLabel(fieldAt({ pointer }, '/fields') ?? '') || 'The step'} ${detail}`);
}

const patienceMs = 8_000; // the page waits this long for the result of a decision
const pollMs = 400;
const refreshSeconds = 5; // without a result, the page reloads after this time

const isTried = (state: ActionState | undefined) => state !== undefined && state !== 'needs-attention' && !hasEnded(state);

/** Whether the chain has not received the decision yet. */
function isPassedOn({ over, ...standing }: Standing, { asked, after = '' }: Asked): boolean {
  const last = 'last' in standing ? standing.last : undefined;
  return over === undefined && asked !== undefined && (last?.at ?? '') <= after;
}

/** `retrying` counts as a result: the attempt failed, and the relay will try again. */
function isUnderWay(standing: Standing, asked: Asked): boolean {
  const state = standing.action?.state;
  return isPassedOn(standing, asked) || (asked.asked !== undefined && isTried(state) && state !== 'retrying');
}

function titleOf({ over, action, chain }: Standing, last: Steered | undefined): string {
  if (over === undefined && action) return last ? 'The step failed again' : notDoneTitle(action);
  if (action?.state === 'done') return doneTitle(action);
  if (action?.state === 'skipped') return 'Skipped';
  return chain && isTried(action?.state) ? 'Still trying' : 'No decision is possible';
}

/** @param shown.problem - why a correction was refused @param shown.kept - the texts that keep the old assignment number */
function sendStanding(
  c: Context<Authenticated>,
  standing: Standing,
  shown: { asked?: Asked; fix?: Fix | undefined; problem?: string; kept?: Kept | undefined } = {},
) {
  const { asked = {}, fix, problem, kept } = shown;
  const { company, chain, action, over } = standing;
  const last = over === undefined ? standing.last : undefined;
  const isWaiting = isPassedOn(standing, asked);
  c.status(problem ? 400 : over === undefined ? 200 : standing.status);
  c.header('Cache-Control', 'no-store');
  const isOpen = over !== undefined && (chain?.status === 'running' || isTried(action?.state));
  if (isWaiting || isOpen) c.header('Refresh', String(refreshSeconds));
  const title = isWaiting ? 'The relay is processing your decision' : titleOf(standing, problem ? undefined : last);
  const { wrong, details } = explained(action ?? {});
  const remedy = over === undefined && toDoFirst(action ?? {});
  const isOver = action?.state === 'done' || action?.state === 'skipped';
  const what =
    action &&
    html`<p>Step: <strong>${stepTitle(action)}</strong></p>${!isOver && html`<p>${labelled(wrong)} ${remedy && labelled(remedy)}</p>`}
${!isOver && details.length > 0 && html`<details><summary>${technicalDetails()}</summary><p>${details}</p></details>`}`;
  const about = company && chain && action && facts(company, chain, action);
  const waiting = html`The relay needs more than ${patienceMs / 1000} seconds for your decision. This page reloads automatically. If nothing changes, <a href="${c.req.path}">go back and decide again</a>.`;
  const before = company && last && decided(last, company.timeZone);
  const said = isWaiting ? waiting : (problem ?? over ?? before);
  const decision = over === undefined && !isWaiting && decisionForm(standing.chain, standing.action, fix);
  const status = said && html`<p role="status">${said} ${over !== undefined && chain && !chain.partial && resultOf(chain)}</p>`;
  const old = html`${kept?.used && html`<p>The old assignment number was already sent in: ${kept.used}.</p>`}
${kept?.open && chain && html`<p>The old assignment number is still in: ${kept.open}. To change it, ${openChain(chain)} and edit the steps.</p>`}`;
  return sendPage(c, { title, main: html`<h1>${title}</h1>${status}${old}${what}${decision}${about}`, forms: true });
}

function resultOf({ status, actions }: ChainResource): string {
  const named = (isMeant: (state: ActionState) => boolean) =>
    actions
      .filter(({ state }) => isMeant(state))
      .map(stepTitle)
      .join('; ');
  const [held, redo] = [named((state) => state === 'needs-attention'), named(isToRedo)];
  const known: Partial<Record<ChainStatus, string>> = {
    running: 'The chain is still running. This page reloads automatically.',
    completed: `The chain has ended${actions.every(({ state }) => state === 'done') ? ': all steps are done' : ''}.`,
    'needs-attention': `Another step needs attention${held && `: ${held}`}.`,
  };
  const rest = redo && ` Steps that are not done, or are done only in part: ${redo}.`;
  return `${known[status] ?? `The state of the chain is “${words(status)}”.`}${rest}`;
}

function facts({ companyId, name, timeZone }: Whose, chain: ChainResource, action: ActionResource): Html {
  const { chainId, receivedAt, status } = chain;
  const shown = timesIn(timeZone);
  const { assignmentId, state, heldUntil, nextAttemptAt } = action;
  const rows = Object.entries({
    Company: name,
    Assignment: assignmentId,
    Chain: `${chainId}, received ${shown(receivedAt)}`,
    'Next automatic retry': nextAttemptAt && shown(nextAttemptAt),
    'If nobody decides, the step fails at': heldUntil && shown(heldUntil),
    'State of the step': foundNobody(action) ? 'nobody found' : words(state),
    'State of the chain': words(status),
    'Open in the relay':
      assignmentId &&
      html`<a href="/companies/${companyId}/assignments/${encodeURIComponent(assignmentId)}">Assignment ${assignmentId}</a>`,
  });
  return html`<section><table>${rows.map(([name, value]) => value && html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table></section>`;
}

/** Without the attribute `action`, the browser would keep `#retry` in the address, and would scroll away from the result. */
const form = html`<form method="post" action="?">`;

export function decisionForm(chain: ChainResource, action: ActionResource, fix?: Fix): Html {
  const behind = chain.actions.filter((other) => isHeldBehind(action, other)).map(stepTitle);
  const follows =
    behind.length > 0
      ? `${behind.length > 1 ? 'These steps wait' : 'This step waits'} for the step above: “${behind.join('”; “')}”.`
      : 'No other step waits for this step.';
  const isFixed = helpFor(action.error)?.by === 'mend';
  const isFixedHere = isFixed && fix !== undefined && fix.names.length > 0;
  const unknown = 'The result of the last attempt is unknown. Before you retry, look in the system that the step uses.';
  const warning = action.error?.unknown ? unknown : isFixed && 'Without a correction, the step fails again.';
  const retry = html`${form}<section id="retry"><h2>Retry</h2>
<p>The relay runs the step again. Steps that are done do not run again. ${warning}</p>
<p><button${isFixedHere && html` class="second"`} name="decision" value="retry">Retry</button></p></section></form>`;
  const skip = html`${form}<section id="skip"><h2>Skip</h2>
<p>The chain continues without this step. You cannot retry the step later.</p>
<p><button class="second" name="decision" value="skip">Skip</button></p></section></form>`;
  const both = verbsFor(chain, action).includes('retry') ? [retry, skip] : [skip];
  const ordered = retryHelps(action) ? both : both.reverse();
  const open = openChain(chain);
  const fixing = fix && fix.names.length > 0 ? [fixForm(fix, isFixedHere, open)] : [];
  const page = isFixed && fixing.length === 0 ? html`<p>To fix the step, ${open} and correct the step there.</p>` : '';
  return html`${isFixed ? [...fixing, page, ...ordered] : [...ordered, ...fixing]}<p>${follows}</p>`;
}

/** The words `sign in, open the chain`, with a link to the chain. */
function openChain({ workflowId }: ChainResource): Html {
  const ref = chainOfWorkflow(workflowId);
  const words = 'open the chain';
  return html`sign in, ${ref ? html`<a href="${chainPage('', ref)}">${words}</a>` : words}`;
}

/** @param open - the words with the link to the chain, where a person can also correct texts */
function fixForm(fix: Fix, isBest: boolean, open: Html): Html {
  const { names, fields, sameAssignment, naming, texts = {} } = fix;
  const inputs = names.map((name) => {
    const text = texts[name] ?? String(fields[name] ?? '');
    const input =
      name === 'cfValue'
        ? html`<textarea name="${name}" rows="2">${text}</textarea>`
        : html`<input name="${name}" value="${text}">`;
    return html`<p><label>${fieldWords[name]}<br>${input}</label></p>`;
  });
  const all = html`<p><label><input type="checkbox" name="allActions" checked>
Also correct the field “${fieldWords.platformAssignmentId}” of ${stepsText(sameAssignment)}.</label></p>`;
  const places = namedWords(naming);
  const kept = html`<p>The old assignment number stays in: ${places}. To change it, ${open} and edit the steps.</p>`;
  return html`${form}<section id="fix"><h2>Fix</h2><p>The relay checks the correction, then runs the step again.</p>
${inputs}${sameAssignment.length > 0 && all}${names.includes('platformAssignmentId') && places !== '' && kept}
<p><button${!isBest && html` class="second"`} name="decision" value="mend">Correct and retry</button></p></section></form>`;
}
