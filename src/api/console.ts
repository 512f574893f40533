/**
 * Serves the console: the same HTML page at every address. The script of this page calls the API with the session cookie.
 * `npm run build` writes the script and the style to dist/console. Their file names contain a hash of the content.
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
/** @param name - the name of the file without its hash: `main` is the first script of the console, `docs` is Redoc. */
export const assetOf = (name: 'main' | 'style' | 'docs') => [...assets.keys()].find((file) => file.startsWith(`${name}-`)) ?? '';

const addresses: [path: string, id: string, summary: string][] = [
  ['/companies', 'getCompaniesPage', 'Open the page where operators choose a company'],
  ['/companies/:companyId', 'getCompanyPage', 'Open the page with the problems of a company'],
  ['/companies/:companyId/:page', 'getConsolePage', 'Open a page of a company, such as its chains'],
  ['/companies/:companyId/:page/:item', 'getItemPage', 'Open the page of a cause, chain, assignment, rule or refused request'],
  ['/companies/*', 'getNoPage', 'Open the page for an address that ends with a slash, or the page "not found"'],
];

export function consoleRoutes(callers: Pick<Callers, 'inSession'>): Route[] {
  const signedIn = (shown: (c: Context<Authenticated>, home: string) => Response | Promise<Response>) => {
    return async (c: Context<Authenticated>) => {
      const actor = await callers.inSession(c);
      const { pathname, search } = new URL(c.req.url);
      const to = pathname === '/' ? '' : `?to=${encodeURIComponent(pathname + search)}`;
      if (!actor) return c.redirect(`/sign-in${to}`);
      return shown(c, actor.kind === 'admin' ? '/companies' : `/companies/${actor.companyId}`);
    };
  };
  const leads = { 302: ['A redirect to `/sign-in`, because there is no session.'] } as const;
  return [
    route.anyone('GET /', 'getHome', 'Go to the console', {
      answers: { 302: ['A redirect to the start page of the session, or to `/sign-in`.'] },
      handle: signedIn((c, home) => c.redirect(home)),
    }),
    ...addresses.map(([path, id, summary]) =>
      route.anyone(`GET ${path}`, id, summary, {
        answers: { 200: ['A page.', 'text/html'], ...leads },
        handle: signedIn(sendConsole),
      }),
    ),
    route.anyone('GET /assets/:file', 'getAsset', "Read the console's script or style", {
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
  c.header('Referrer-Policy', 'same-origin'); // With `no-referrer`, browsers would hide a form's origin from `assertOwnPage`.
  const head = html`<link rel="stylesheet" href="/assets/${assetOf('style')}">
<script type="module" src="/assets/${assetOf('main')}"></script>`;
  const main = html`<noscript>The console needs JavaScript. Without it, use the <code>relay</code> command
or the <a href="/docs">API</a>.</noscript>`;
  return c.html(wholePage({ title: 'Relay', main }, head));
}
