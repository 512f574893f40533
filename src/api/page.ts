/** The HTML pages of the API. `html` escapes values. The style is inline. The pages load no scripts and no other files. */

import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';

export type Html = ReturnType<typeof html>;

interface Page {
  title: string;
  header?: Html;
  main: Html;
  /** Whether the page has forms. The browser may send these forms only to the relay. */
  forms?: boolean;
}

export function sendPage(c: Context, page: Page) {
  c.header('Content-Security-Policy', page.forms ? policy.replace("form-action 'none'", "form-action 'self'") : policy);
  c.header('X-Content-Type-Options', 'nosniff');
  // With `no-referrer`, browsers would hide the origin of a form, which `assertOwnPage` needs.
  c.header('Referrer-Policy', 'same-origin');
  return c.html(wholePage(page, html`<style>${raw(style)}</style>`));
}

/** A page with a heading and forms. Browsers do not cache this page. */
export function sendForm(c: Context, title: string, body: Html) {
  c.header('Cache-Control', 'no-store');
  return sendPage(c, { title, main: html`<h1>${title}</h1>${body}`, forms: true });
}

/** The mark of the relay: a baton between two dots. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M5 17 19 7" stroke="#0b5cb5" stroke-width="3"/><circle cx="5" cy="17" r="4.5" fill="#0b5cb5"/><circle cx="19" cy="7" r="4.5" fill="#79b8ff"/></svg>`;

export function wholePage({ title, header, main }: Page, head: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
${head}
</head>
<body>
${header && html`<header>${header}</header>`}
<main>${main}</main>
</body>
</html>`;
}

/** Turns a line of text into HTML. Text in backticks becomes `<code>`. */
export function inline(text: string): Html {
  return html`${text.split('`').map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

export const json = (value: unknown): Html => html`<pre>${JSON.stringify(value, undefined, 2)}</pre>`;

/** The style of all pages of the API and of the sandbox. */
export const sharedStyle = `
:root { color-scheme: light dark;
  --line: light-dark(#dfe3e8, #353b43); --soft: light-dark(#5d6875, #9aa5b1); --card: light-dark(#fff, #1d2126);
  --page: light-dark(#f4f6f8, #14171a); --ink: light-dark(#17202a, #e7ebef); --accent: light-dark(#0b63c5, #6cb0ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
header, main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 0; }
p { margin: .3rem 0; } a { color: var(--accent); } .soft { color: var(--soft); }
section, .card, .scroll { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
section, .card { padding: .75rem 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { font-size: .85rem; color: var(--soft); overflow-wrap: normal; } tr:first-child > * { border-top: 0; }
code, pre { font: 13px/1.5 ui-monospace, monospace; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
details > summary { cursor: pointer; margin: .4rem 0; }
`;

const style = `${sharedStyle}
button { font: inherit; font-weight: 600; padding: .5rem 1.25rem; border: 1px solid var(--accent); border-radius: 8px;
  background: var(--accent); color: light-dark(#fff, #0d1a28); cursor: pointer; }
button.second { background: none; color: var(--accent); }
input { max-width: 100%; font: inherit; padding: .4rem .6rem; border: 1px solid var(--soft); border-radius: 8px;
  background: var(--card); color: inherit; }
p { max-width: 50rem; } section { margin: .75rem 0; }
pre { background: var(--page); border-radius: 6px; padding: .6rem; }
@media (min-width: 40rem) { td:first-child { white-space: nowrap; } }
`;

const styleHash = createHash('sha256').update(style).digest('base64');
const nothingElse = "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; ${nothingElse}`;
