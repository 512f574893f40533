/**
 * The console for people: one page, whose script shows what its address says and asks this API for the rest, by the session of
 * whoever looks. `npm run build` has put script and style into dist/console, named by what is in them.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Authenticated, Callers } from './bearer-authentication.js';
import { wholePage } from './page.js';
import { found } from './problems.js';
import { type Route, route } from './route.js';

const directory = fileURLToPath(new URL('../../console/', import.meta.url));
const types: Record<string, string> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

const assets = new Map(
  (existsSync(directory) ? readdirSync(directory) : []).flatMap((name) => {
    const type = types[name.split('.').at(-1) ?? ''];
    return type === undefined ? [] : [[name, { type, gzipped: gzipSync(readFileSync(directory + name)) }] as const];
  }),
);
const assetOf = (kind: string) => [...assets.keys()].find((name) => name.endsWith(`.${kind}`)) ?? '';

const addresses: [path: string, id: string, summary: string][] = [
  ['/companies', 'getCompaniesPage', 'The page on which operators choose a company'],
  ['/companies/:companyId', 'getCompanyPage', 'The page of what needs attention in a company'],
  ['/companies/:companyId/:page', 'getConsolePage', 'A page about a company, such as its chains'],
  ['/companies/:companyId/:page/:item', 'getItemPage', 'A page about one cause, chain, assignment, rule or refused request'],
  ['/companies/*', 'getNoPage', 'The same with a slash at its end, or the page that says that there is none'],
];

export function consoleRoutes(callers: Pick<Callers, 'inSession'>): Route[] {
  /** @param shown - what whoever is signed in gets to see. */
  const signedIn = (shown: (c: Context<Authenticated>, home: string) => Response | Promise<Response>) => {
    return async (c: Context<Authenticated>) => {
      const actor = await callers.inSession(c);
      const { pathname, search } = new URL(c.req.url);
      const to = pathname === '/' ? '' : `?to=${encodeURIComponent(pathname + search)}`;
      if (!actor) return c.redirect(`/sign-in${to}`);
      return shown(c, actor.kind === 'admin' ? '/companies' : `/companies/${actor.companyId}`);
    };
  };
  const leads = { 302: ['To `/sign-in`: nobody is signed in.'] } as const;
  return [
    route('GET /', 'getHome', 'The way to the console', {
      access: 'public',
      answers: { 302: ['To the pages of whoever is signed in, or to `/sign-in`.'] },
      handle: signedIn((c, home) => c.redirect(home)),
    }),
    ...addresses.map(([path, id, summary]) =>
      route(`GET ${path}`, id, summary, {
        access: 'public',
        answers: { 200: ['A page.', 'text/html'], ...leads },
        handle: signedIn(sendConsole),
      }),
    ),
    route('GET /assets/:file', 'getAsset', "The console's script and style", {
      access: 'public',
      answers: { 200: ['The file, which never changes under this name.', 'text/plain'] },
      handle(c, { file }) {
        const { type, gzipped } = found(assets.get(file), `file ${file}`);
        const isZipped = /\bgzip\b/.test(c.req.header('Accept-Encoding') ?? '');
        return c.body(isZipped ? gzipped : gunzipSync(gzipped), 200, {
          'Content-Type': type,
          'Cache-Control': 'public, max-age=31536000, immutable',
          Vary: 'Accept-Encoding',
          ...(isZipped && { 'Content-Encoding': 'gzip' }),
        });
      },
    }),
  ];
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

function sendConsole(c: Context) {
  c.header('Content-Security-Policy', policy);
  c.header('Referrer-Policy', 'same-origin'); // With no-referrer, a browser would not say either that a form came from here.
  const head = html`<link rel="stylesheet" href="/assets/${assetOf('css')}">
<script type="module" src="/assets/${assetOf('js')}"></script>`;
  const main = html`<noscript>The console needs JavaScript. Without it, everything can be done with the <code>relay</code> command
and the <a href="/docs">API</a>.</noscript>`;
  return c.html(wholePage({ title: 'Relay', main }, head));
}
