/** Sign-in with a browser: the sign-in page, and the session that begins after the sign-in. */

import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { StatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { optionalText } from '../chain/action-status.js';
import { counted } from '../chain/text.js';
import type { Caller } from '../contract/audit.js';
import { roles } from '../contract/credential.js';
import { named } from '../contract/named.js';
import { Problem } from '../contract/problem.js';
import { signedInWords } from '../contract/role-words.js';
import { type Authenticated, assertOwnPage, type Callers, unauthorized } from './bearer-authentication.js';
import { parseAs, readObject } from './input.js';
import { countUse, type Limits } from './limits.js';
import { type Html, sendPage } from './page.js';
import { problemOf } from './problems.js';
import { type Route, route } from './route.js';

const credentials = z.strictObject({ credential: z.string().min(1, 'must be an admin token or a key of a company').max(512) });
const signInForm = credentials.extend({ to: z.string().max(2048).optional() });
export const toSchema = optionalText.describe(
  'The page to open after sign-in: a page of the console, or a path below `/web-ui`. Other addresses are ignored.',
);

const sessionSchema = named('Session', {
  kind: z.enum(['admin', 'key', 'person']),
  name: z.string().optional().describe('The name of the key, person or admin token. `RELAY_ADMIN_TOKEN` has no name.'),
  companyId: z.string().optional().describe('The company of the key or person.'),
  role: z.enum(roles).optional().describe('The role of the key or person.'),
});

/** The ways to sign in besides keys and tokens. `openId`: the name of the service. */
export type Ways = { mail?: boolean; openId?: string | undefined };

/** @param limits - if missing, the number of sign-ins with a key is not limited */
export function sessionRoutes(callers: Callers, limits?: Limits, ways: Ways = {}): Route[] {
  const begin = async (c: Context<Authenticated>, { credential }: z.infer<typeof credentials>): Promise<Caller> => {
    const actor = await callers.holding(c, credential.trim());
    if (!actor) throw unauthorized('an admin token or a key of a company', c);
    if (limits) await countUse(c, limits, 'sign-ins', actor);
    await callers.signIn(c, actor);
    return actor;
  };
  return [
    route.anyone('GET /sign-in', 'getSignIn', 'Open the page to sign in and out', {
      onPage: true,
      query: z.object({ to: toSchema }),
      answers: { 200: ['A page.', 'text/html'], 302: ['There is a session: a redirect to the page in `to`.'] },
      async handle(c, { query: { to } }) {
        const actor = await callers.inSession(c);
        return actor && to !== undefined ? c.redirect(consolePath(to)) : signInPage(c, { actor, to, ways });
      },
    }),
    route.anyone('POST /sign-in', 'signIn', 'Sign in with the form of the sign-in page', {
      onPage: true,
      answers: {
        303: ['A redirect to the page in `to`, with a session.'],
        401: ['The sign-in page: the token or key is wrong.', 'text/html'],
      },
      problems: ['foreign-page', 'rate-limited', 'body-too-large'],
      async handle(c) {
        assertOwnPage(c);
        const { data = { credential: '' } } = signInForm.safeParse(await c.req.parseBody());
        try {
          await begin(c, data);
        } catch (error) {
          if (!(error instanceof Problem) || error.slug !== 'unauthorized') throw error;
          return signInPage(c, { to: data.to, wrong, ways }, 401);
        }
        return c.redirect(consolePath(data.to), 303);
      },
    }),
    route.anyone('POST /sign-out', 'signOut', 'Sign out with the form of the sign-in page', {
      answers: { 303: ['A redirect to the sign-in page, without a session.'] },
      problems: ['foreign-page'],
      async handle(c) {
        assertOwnPage(c);
        await callers.signOut(c);
        return c.redirect('/sign-in', 303);
      },
    }),
    route.anyone('POST /session', 'beginSession', 'Sign in', {
      description:
        'Send an admin token or a key of a company. The answer sets a cookie with the same permissions. The session ends an hour after ' +
        'its last use, after twelve hours, or when the key or token ends. A key has at most fifty sessions: a further session ends ' +
        'the least recently used session. Only pages of the relay can make changes with the cookie.',
      rawBody: credentials,
      answers: { 201: ['The person, key or token that is signed in.', sessionSchema, { 'Set-Cookie': 'The session.' }] },
      problems: ['invalid-body', 'unauthorized', 'rate-limited'],
      async handle(c) {
        return c.json(sessionSchema.parse(await begin(c, parseAs(credentials, await readObject(c)))), 201);
      },
    }),
    route.anyone('GET /session', 'getSession', 'Read who is signed in', {
      answers: { 200: ['There is a session.', sessionSchema] },
      problems: ['unauthorized'],
      async handle(c) {
        const actor = await callers.inSession(c);
        if (!actor) throw unauthorized('a session', c);
        return c.json(sessionSchema.parse(actor), 200, { 'Cache-Control': 'no-store' });
      },
    }),
    route.anyone('DELETE /session', 'endSession', 'Sign out', {
      answers: { 204: ['The session has ended.'] },
      problems: ['foreign-page'],
      async handle(c) {
        assertOwnPage(c);
        await callers.signOut(c);
        return c.body(null, 204);
      },
    }),
  ];
}

/** @returns a path of the console or below `/web-ui`, never an address of another site */
export function consolePath(asked: string | undefined): string {
  const here = 'http://relay.invalid';
  const { origin, pathname, search } = new URL(asked !== undefined && URL.canParse(asked, here) ? asked : '/', here);
  return origin === here && /^\/(companies|web-ui)(\/|$)/.test(pathname) ? pathname + search : '/';
}

/** Shows errors on the sign-in page. Add this before `limitFailures`: then it also shows the 429 that replaces a 401. */
export const sayOnSignInPage =
  (ways: Ways = {}): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (!c.error) return;
    const { problem } = problemOf(c.error);
    // Read the form again only after `rate-limited`. After another problem, the form may be unreadable.
    const { to } = problem.slug === 'rate-limited' ? await c.req.parseBody() : {};
    const retryAfter = c.res.headers.get('Retry-After');
    const wrong = `${problem.detail}${retryAfter === null ? '' : ` Try again in ${counted(Number(retryAfter), 'second')}.`}`;
    c.res = await signInPage(c, { wrong, to: typeof to === 'string' ? to : undefined, ways }, problem.status as StatusCode);
  };

const wrong = 'This is not a valid admin token or key. The token or key may be deleted or expired.';

export function signInPage(
  c: Context,
  { actor, to, wrong, ways = {} }: { actor?: Caller; to?: string; wrong?: string; ways?: Ways },
  status: StatusCode = 200,
) {
  c.status(status);
  c.header('Cache-Control', 'no-store');
  const title = actor ? 'Signed in' : 'Sign in';
  return sendPage(c, { title, main: actor ? signedIn(actor) : signIn(ways, to, wrong), forms: true, header: html`Relay` });
}

function signIn({ mail, openId }: Ways, to?: string, wrong?: string): Html {
  const page = to && consolePath(to);
  const toPage = page && html`<input name="to" type="hidden" value="${page}">`;
  const byMail = html`<section><form method="post" action="/sign-in/mail">${toPage}
<p>You get a mail with a link. The link works for ten minutes, and only in this browser.</p>
<p><label>E-mail address<br>
<input name="email" type="email" autocomplete="email" size="48" maxlength="320" required autofocus></label></p>
<p><button>Mail me a link</button></p>
</form></section>`;
  const byOpenId = html`<p><a href="/sign-in/openid${page && `?to=${encodeURIComponent(page)}`}">Sign in with ${openId}</a></p>`;
  return html`<h1>Sign in</h1>
${mail && byMail}${openId && byOpenId}
${(mail || openId) && html`<h2>With a key</h2>`}
<section><form method="post" action="/sign-in">
${wrong && html`<p role="alert">${wrong}</p>`}
${toPage}
<p><label>Admin token or company key<br>
<input name="credential" type="password" autocomplete="current-password" size="48" maxlength="512" required${!mail && ' autofocus'}></label></p>
<p><button${mail && html` class="second"`}>Sign in</button></p>
</form></section>`;
}

function signedIn(actor: Caller): Html {
  return html`<h1>Signed in</h1>
<p>${signedInWords(actor)}.${actor.kind !== 'admin' && html` The company is ${actor.companyId}.`}
The session ends an hour after its last use.</p>
<p><a href="/">To the console</a></p>
<form method="post" action="/sign-out"><p><button>Sign out</button></p></form>`;
}
