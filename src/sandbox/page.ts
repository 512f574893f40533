/** The common parts of the sandbox's pages: one style sheet, and one script that refreshes a page. `html` escapes all texts. */

import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { type Html, sharedStyle, wholePage } from '../api/page.js';

/** If `live` is true, the page refreshes `main` every two seconds. Forms in `header` are not refreshed, and keep their input. */
export function sendPage(c: Context, page: { title: string; header: Html; main: Html; live: boolean }) {
  c.header('Content-Security-Policy', policy);
  c.header('Referrer-Policy', 'no-referrer');
  c.header('Cache-Control', 'no-store');
  const renewal = html`<script src="/page.js" defer></script><noscript><meta http-equiv="refresh" content="10"></noscript>`;
  return c.html(wholePage(page, html`<link rel="stylesheet" href="/page.css">${page.live ? renewal : ''}`));
}

/**
 * The common part of the sandbox's servers: style sheet, script, and errors as JSON. The servers have no authentication, so they
 * refuse requests that other web sites cause in a browser.
 */
export function pageServer(): Hono {
  return new Hono()
    .use(async (c, next) => {
      // Also refuses `same-site`, which means another port of this machine. Accepts programs, which do not send `Sec-Fetch-Site`.
      if (c.req.method === 'GET' || ['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site'))) return next();
      return c.text('requests from other web sites are refused', 403);
    })
    .get('/page.css', (c) => c.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8' }))
    .get('/page.js', (c) => c.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }))
    .notFound((c) => c.json({ error: `nothing at ${c.req.path}` }, 404))
    .onError((error) => {
      const { status, body } = refusal(error);
      return Response.json(body, { status });
    });
}

export function refusal(error: unknown): { status: number; body: { error: string } } {
  if (error instanceof z.ZodError) return { status: 400, body: { error: z.prettifyError(error) } };
  const status = error instanceof HTTPException ? error.status : 500;
  return { status, body: { error: error instanceof Error ? error.message : String(error) } };
}

export function found<Found>(record: Found | undefined, what: string): Found {
  if (record === undefined) throw new HTTPException(404, { message: `no ${what}` });
  return record;
}

/** @returns undefined if the body is not JSON. */
export const jsonBody = (c: Context): Promise<unknown> => c.req.json().catch(() => undefined);

/** Makes a handler for a button. The handler calls `act` with the form and the path's parameters, then redirects to the page `to`. */
export function button(act: (form: Record<string, unknown>) => void, to = '/') {
  return async (c: Context) => {
    act({ ...(await c.req.parseBody()), ...c.req.param() });
    return c.redirect(to, 303);
  };
}

export function time(at: string): Html {
  const shown = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
  return html`<time datetime="${at}">${shown}</time>`;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const script = `
setInterval(async () => {
  if (document.hidden || document.activeElement?.closest('main')) return;
  const answer = await fetch(location.href).catch(() => undefined);
  if (!answer?.ok) return;
  const renewed = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  const shown = document.querySelector('main');
  if (renewed && renewed.innerHTML !== shown.innerHTML) shown.replaceWith(renewed);
}, 2000);
`;

const style = `${sharedStyle}
:root { --good: light-dark(#16794a, #5fd39b); --bad: light-dark(#b3261e, #ff8f86); --wait: light-dark(#8a5a00, #f0c060); }
header { padding-bottom: 0; } .card { overflow-wrap: anywhere; } ul { margin: .4rem 0 0; padding-left: 1.1rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .75rem; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .spread { justify-content: space-between; }
.badge { border: 1px solid currentColor; border-radius: 99px; padding: 0 .6rem; font-size: .85rem; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
button, select, input, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .3rem .7rem; }
button { cursor: pointer; } button:hover, a.mail:hover { border-color: var(--accent); }
.small { margin-top: .5rem; } .small button { font-size: .85rem; min-height: 1.8rem; padding: .1rem .5rem; }
form.card { margin-bottom: .75rem; } .card label { display: block; } .card :is(input, textarea) { width: 100%; }
.scroll { overflow-x: auto; } .scroll :is(th, td) { padding: .4rem .75rem; } td { max-width: 30rem; min-width: 6rem; }
th, time, .tight, .badge { white-space: nowrap; }
iframe { width: 100%; height: 26rem; border: 1px solid var(--line); border-radius: 10px; background: #fff; resize: vertical; }
details > summary { margin: 1.5rem 0 .5rem; font-weight: 600; }
a.mail { display: block; text-decoration: none; color: inherit; margin-bottom: .5rem; }
`;
