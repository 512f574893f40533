/** Opens Temporal's Web UI, but only with an operator's session, because the Web UI can decode payloads with this session. */

import { html } from 'hono/html';
import type { Callers } from './bearer-authentication.js';
import { sendPage } from './page.js';
import { found } from './problems.js';
import { type Route, route } from './route.js';
import { signInPage } from './session.js';

const base = '/web-ui';

/** @param webUi - the namespace's page (`https://temporal.example.com/namespaces/default`); if undefined, the answer is 404 */
export function webUiRoutes(callers: Pick<Callers, 'inSession'>, webUi?: string): Route[] {
  return [
    route.anyone(`GET ${base}/*`, 'openWebUi', "Open a page of Temporal's Web UI", {
      answers: {
        200: ['A page that opens the page of the Web UI.', 'text/html'],
        302: ['A redirect to `/sign-in`, because there is no session.'],
        403: ["The sign-in page, because the session is not an operator's.", 'text/html'],
      },
      problems: ['not-found'],
      async handle(c) {
        const { pathname, search } = new URL(c.req.url);
        const to = pathname + search;
        const target = `${found(webUi, 'Web UI: TEMPORAL_UI_URL is not set')}${to.slice(base.length)}`;
        const actor = await callers.inSession(c);
        if (!actor) return c.redirect(`/sign-in?to=${encodeURIComponent(to)}`);
        const wrong = "Temporal's Web UI is for operators: sign in with an admin token.";
        if (actor.kind !== 'admin') return signInPage(c, { to, wrong }, 403);
        // Chrome would refuse a redirect after the sign-in form, because the form's policy allows only addresses of the relay.
        c.header('Refresh', `0; url=${target}`);
        c.header('Cache-Control', 'no-store');
        return sendPage(c, { title: 'Web UI', main: html`<p><a href="${target}">To Temporal's Web UI</a></p>` });
      },
    }),
  ];
}
