/**
 * People sign in with a link in a mail, or with OpenID Connect. A sign-in works once, for ten minutes, and only in the browser
 * where the person began it. A GET of the link signs nobody in, because mail scanners open links, too.
 */

import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { addressOf, isEmailAddress } from '../chain/address.js';
import { counted } from '../chain/text.js';
import { makeId } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import { roleWords } from '../contract/role-words.js';
import { addressGroup, clientAddress } from '../service/client-address.js';
import { Shares } from '../service/shares.js';
import { asCaller, type KnownPerson } from '../store/people.js';
import { type Authenticated, assertOwnPage, type Callers } from './bearer-authentication.js';
import { countUse } from './limits.js';
import { sendForm } from './page.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';
import { consolePath, toSchema } from './session.js';

const token = z.string().regex(/^[\w-]{43}$/);
const makeToken = () => randomBytes(32).toString('base64url');
const mailForm = z.object({
  email: z.string().max(320).refine(isEmailAddress).transform(addressOf),
  to: z.string().max(2048).optional().catch(undefined),
});
/** The number of sign-ins that a client address may begin without a wait; then one more in each `begunEveryMs`. */
const [mostBegun, begunEveryMs] = [30, 2_000];
/** The number of mails to an address (also an unknown one) without a wait; then one more in each `mailEveryMs`. */
export const mailsToAddress = 3;
const mailEveryMs = 200_000;
const gone = 'This link was used before, is older than ten minutes, or was requested in another browser.';

export function signInRoutes({ store, connectors, links, limits, log, openId }: ApiOptions, callers: Callers): Route[] {
  const { people } = store;
  const { operatorMail } = connectors;
  const [begun, mailed] = [new Shares(mostBegun, begunEveryMs), new Shares(mailsToAddress, mailEveryMs)];
  const service = () => found(openId, 'sign-in with OpenID Connect: the operator has not set RELAY_OIDC_ISSUER');
  const noted = (what: string) => (error: unknown) => void log.warn({ err: error }, what); // logs an error, and returns undefined

  /** Counts a sign-in that begins. @param email - the address for the mail, if the person wants a mail. @throws Problem 429 */
  const count = (c: Context<Authenticated>, email?: string) => {
    const client = addressGroup(clientAddress(c));
    const seconds = Math.ceil(Math.max(begun.wait(client), email === undefined ? 0 : mailed.wait(email)) / 1000);
    const detail = `There were too many attempts to sign in. Nothing was done. Try again in ${counted(seconds, 'second')}.`;
    if (seconds > 0) throw new Problem('rate-limited', detail, { headers: { 'Retry-After': `${seconds}` }, bound: 'sign-ins' });
    begun.take(client);
    if (email !== undefined) mailed.take(email);
  };

  const enter = async (c: Context<Authenticated>, person: KnownPerson, toPage: string | undefined) => {
    const actor = asCaller(person);
    await countUse(c, limits, 'sign-ins', actor);
    await callers.signIn(c, actor);
    return c.redirect(consolePath(toPage), 303);
  };

  /** Runs after the answer. So neither the text nor the duration of the answer shows whether the relay knows the address. */
  const sendLink = async (email: string, browser: string, toPage: string | undefined) => {
    const known = await people.withAddress(email);
    if (known.length === 0 || !operatorMail) return;
    const link = makeToken();
    await people.begin(link, browser, known, toPage);
    const mail = mailOf(`${links.api}/sign-in/link/${link}`, new URL(links.api).host);
    const message = { from: operatorMail.from, to: email, messageId: `sign-in-${makeId()}@relay`, ...mail };
    await operatorMail.mailer.send(message, { timeoutMs: 60_000 });
  };

  /** The people who can sign in with the link of this request, in this browser. */
  const asked = async (c: Context<Authenticated>) => {
    const [link, browser] = [token.safeParse(c.req.param('link')).data, callers.browser(c)];
    return link && browser ? { link, browser, choices: await people.choices(link, browser) } : undefined;
  };

  return [
    route.anyone('POST /sign-in/mail', 'mailSignIn', 'Ask for a mail with a link to sign in', {
      onPage: true,
      description:
        'A form with `email` and `to` (the page to open after the sign-in). The answer is the same, whether the relay knows the address or not.',
      answers: { 200: ['A page, and a cookie. The link in the mail works only with this cookie.', 'text/html'] },
      problems: ['invalid-body', 'not-found', 'foreign-page', 'rate-limited', 'body-too-large'],
      async handle(c) {
        assertOwnPage(c);
        found(operatorMail, 'sign-in by mail: the operator has not set SMTP_URL');
        const { data } = mailForm.safeParse(await c.req.parseBody());
        if (!data) throw new Problem('invalid-body', 'Enter an e-mail address such as ada@example.com.');
        count(c, data.email);
        void sendLink(data.email, callers.knowBrowser(c), data.to).catch(noted('a mail with a link to sign in was not sent'));
        return sendForm(
          c,
          'Check your mail',
          html`<p role="status">If the relay knows ${data.email}, you get a mail with a link.</p>
<p>Open the link in this browser within ten minutes. If no mail arrives, look in the spam folder,
or ask a manager of your company to add this address.</p><p><a href="/sign-in">Back</a></p>`,
        );
      },
    }),
    route.anyone('GET /sign-in/link/:link', 'openSignInLink', 'Open the link to sign in', {
      onPage: true,
      description: 'This request does not sign the person in yet. The page has one button for each company of the person.',
      answers: { 200: ['A page with a button.', 'text/html'], 401: ['The link is not valid in this browser.', 'text/html'] },
      problems: ['rate-limited'],
      async handle(c) {
        const choices = (await asked(c))?.choices ?? [];
        if (choices.length === 0) return refused(c, gone);
        const several = choices.length > 1 && html`<p>You belong to several companies. Choose one.</p>`;
        const buttons = choices.map(
          ({ personId, name, role, companyName }) =>
            html`<p><button name="personId" value="${personId}">Sign in to ${companyName}</button> as ${name} (${roleWords[role]})</p>`,
        );
        return sendForm(c, 'Sign in', html`${several}<form method="post">${buttons}</form>`);
      },
    }),
    route.anyone('POST /sign-in/link/:link', 'useSignInLink', 'Choose a company on the sign-in page and sign in', {
      onPage: true,
      answers: {
        303: ['A redirect to the console, with a session.'],
        401: ['The link is not valid in this browser.', 'text/html'],
      },
      problems: ['foreign-page', 'rate-limited', 'body-too-large'],
      async handle(c) {
        assertOwnPage(c);
        const at = await asked(c);
        const { personId } = await c.req.parseBody();
        const person = at?.choices.find((choice) => choice.personId === personId);
        const taken = at && person && (await people.take(at.link, at.browser, person.personId));
        return taken ? enter(c, person, taken.toPage) : refused(c, gone);
      },
    }),
    route.anyone('GET /sign-in/openid', 'beginOpenIdSignIn', 'Go to the OpenID Connect service to sign in', {
      onPage: true,
      query: z.object({ to: toSchema }),
      answers: { 302: ['A redirect to the service.'], 502: ['The service does not answer.', 'text/html'] },
      problems: ['not-found', 'rate-limited'],
      async handle(c, { query: { to } }) {
        const { name, begin } = service();
        count(c);
        const [browser, state] = [callers.knowBrowser(c), makeToken()];
        await people.begin(state, browser, [], to);
        const page = await begin(browser, state).catch(noted('the OpenID Connect service cannot be used'));
        return page ? c.redirect(page.href) : refused(c, `${name} does not work correctly at the moment. Try again later.`, 502);
      },
    }),
    route.anyone('GET /sign-in/openid/callback', 'endOpenIdSignIn', 'Come back from the OpenID Connect service', {
      onPage: true,
      answers: {
        303: ['A redirect to the console with a session, or to a page where the person chooses a company.'],
        401: ['The service did not confirm the sign-in.', 'text/html'],
        403: ['No company has a person with this account.', 'text/html'],
      },
      problems: ['not-found', 'rate-limited'],
      async handle(c) {
        const { name, finish } = service();
        const [state, browser] = [token.safeParse(c.req.query('state')).data, callers.browser(c)];
        const open = state && browser && (await people.take(state, browser));
        if (!open) return refused(c, 'This sign-in has ended, or it began in another browser. Nothing was done. Begin again.');
        const { search } = new URL(c.req.url);
        const identity = await finish(search, browser, state).catch(noted('a sign-in with OpenID Connect failed'));
        if (!identity) return refused(c, `${name} did not confirm the sign-in. Nothing was done. Begin again.`);
        if ('refused' in identity) return refused(c, identity.refused, 403);
        const [person, ...others] = await people.identify(identity);
        if (!person) return refused(c, unknown(identity.email), 403);
        if (others.length === 0) return enter(c, person, open.toPage);
        const link = makeToken();
        await people.begin(link, browser, [person, ...others], open.toPage);
        return c.redirect(`/sign-in/link/${link}`, 303);
      },
    }),
  ];
}

const unknown = (email?: string) =>
  email
    ? `No person in the relay has the address ${email}. Ask a manager of your company to add you.`
    : 'Your account at the sign-in service has no verified e-mail address. Verify the address there, then sign in again.';

function refused(c: Context<Authenticated>, why: string, status: 401 | 403 | 502 = 401) {
  c.status(status);
  return sendForm(c, 'Not signed in', html`<p role="alert">${why}</p><p><a href="/sign-in">Sign in</a></p>`);
}

function mailOf(link: string, host: string) {
  const first = `Somebody wants to sign in to the relay at ${host} with your address.`;
  const second = 'You can use the link once, within ten minutes, in the browser where you asked for it.';
  const last = 'If this was not you, ignore this mail. Without the link, nobody can finish this sign-in.';
  const style = 'font-family:sans-serif;font-size:16px;line-height:1.5;max-width:600px';
  return {
    subject: 'Sign in to the relay',
    text: `${first}\n\nSign in: ${link}\n\n${second}\n\n${last}\n`,
    html: String(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body style="${style}"><p>${first}</p><p><a href="${link}" style="font-size:20px">Sign in</a></p><p>${second}</p><p>${last}</p></body></html>`),
  };
}
