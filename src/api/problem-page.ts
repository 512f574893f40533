/** The page of a problem type: what it means, what to do, and what such a problem looks like. */

import { html } from 'hono/html';
import { type ProblemSlug, problemTypes } from '../contract/problem-types.js';
import { type Html, inline, json } from './page.js';

export function problemPage(slug: ProblemSlug): { title: string; main: Html } {
  const { status, title, meaning, whatToDo, example } = problemTypes[slug];
  const main = html`<h1>${title}</h1>
<p class="soft">Status ${status}, type <code>/problems/${slug}</code></p>
<section><h3>What it means</h3><p>${inline(meaning)}</p></section>
<section><h3>What to do</h3><p>${inline(whatToDo)}</p></section>
<section><h3>Example</h3>${json({ type: `/problems/${slug}`, title, status, ...example })}</section>
<p><a href="/docs#problems">All types of problems</a> · <a href="/docs">The API</a></p>`;
  return { title: `${title} (${status})`, main };
}
