/** The pretend platform's page: whom assignments reached, what became of tickets, which calls came in, and how it fails. */

import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Html } from '../../api/page.js';
import type { PlatformFailure } from '../fault.js';
import { pageButtons, sendPage, time } from '../page.js';
import { type Assignment, type Call, changeSchema, type Send, type Ticket } from './records.js';
import type { PlatformState } from './state.js';
import { groups } from './workers.js';

const callsShown = 50;
const assignmentsShown = 100;

/** What the buttons make of it. */
const failures: Record<string, { label: string; failure: PlatformFailure }> = {
  unavailable: { label: 'Answer 503', failure: { status: 503 } },
  refusing: { label: 'Answer 422', failure: { status: 422 } },
  slow: { label: 'Be slow (20 s)', failure: { delayMs: 20_000 } },
  reset: { label: 'Break connections', failure: { dropConnection: true } },
};

/** What a failure may be confined to, in the words of the page. */
const subjects = { send: 'sends', assignments: 'assignment reads', tickets: 'ticket calls' };

const failFormSchema = z.object({ how: z.string(), path: z.enum(['send', 'assignments', 'tickets']).or(z.literal('')) });
const changeFormSchema = changeSchema.pick({ id: true, status: true });

export function overviewPage(state: PlatformState): Hono {
  /** Makes an assignment, or changes its status. */
  const setStatus = (form: Record<string, unknown>) => {
    const { id, status = 'draft' } = changeFormSchema.safeParse(form).data ?? {};
    if (id !== undefined) state.change(id, { status });
  };
  const buttons = pageButtons({
    '/page/fail': (form) => {
      const { how = '', path } = failFormSchema.safeParse(form).data ?? {};
      const failure = failures[how]?.failure;
      if (failure) state.fault.now = { ...failure, path: path || undefined };
    },
    '/page/reset': () => state.reset(),
    '/page/assignments': setStatus,
    '/page/assignments/:id': setStatus,
  });
  return new Hono()
    .get('/', (c) => sendPage(c, { title: 'Pretend platform', header: header(), main: overview(state), live: true }))
    .route('/', buttons);
}

function header(): Html {
  return html`<h1>Pretend platform</h1>
<p class="soft">It stands in for the assignment platform and the ticket system. Nothing here is real.</p>
<form method="post" action="/page/fail" class="row">
<label for="path">Make</label>
<select name="path" id="path">
<option value="">all calls</option>
${Object.entries(subjects).map(([subject, name]) => html`<option value="${subject}">${name}</option>`)}
</select> fail:
${Object.entries(failures).map(([how, { label }]) => html`<button name="how" value="${how}">${label}</button>`)}
<button formaction="/page/heal">Heal</button>
<button formaction="/page/reset">Start over</button>
</form>
<form method="post" action="/page/assignments" class="row small">
<label for="id">New assignment</label>
<input name="id" id="id" size="12" required pattern="[A-Za-z0-9_\\-]{1,64}" placeholder="2001">
<button>Make a draft</button>
</form>`;
}

function overview(state: PlatformState): Html {
  const calls = [...state.calls.values()].slice(-callsShown).reverse();
  return html`<p class="card">${
    state.fault.now
      ? html`<strong class="bad">Failing:</strong> ${describe(state.fault.now)}`
      : html`<strong class="good">Well:</strong> every call is answered as it should be.`
  }</p>
<h2>Assignments</h2>
<div class="cards">${[...state.assignments.values()].slice(-assignmentsShown).map(assignmentCard)}</div>
<h2>Tickets</h2>
<div class="cards">${[...state.tickets.values()].slice(-assignmentsShown).map(ticketCard)}</div>
<h2>Groups and their workers</h2>
<div class="cards">${groups.map(
    (group) => html`<section class="card"><h3>${group.id} · ${group.name}</h3>
<ul>${group.workers.map((worker) => html`<li>${worker.name} <span class="soft">${worker.city}</span></li>`)}</ul></section>`,
  )}</div>
<h2>Calls received <span class="soft">(the latest ${callsShown})</span></h2>
${
  calls.length === 0
    ? html`<p class="soft">None yet.</p>`
    : html`<div class="scroll"><table>
<tr><th>Time</th><th>Call</th><th>Answer</th><th>Body</th><th>Idempotency key</th></tr>${calls.map(callRow)}</table></div>`
}`;
}

function assignmentCard({ id, title, status, location, ownerEmail, customFields, sends }: Assignment): Html {
  const others = ['draft', 'accepted', 'cancelled'].filter((other) => other !== status);
  return html`<section class="card">
<div class="row spread"><h3>${id} · ${title}</h3><span class="badge ${tone(status)}">${status}</span></div>
<p class="soft">${location.address}, ${location.city}, ${location.state} ${location.zip}<br>${ownerEmail}
${Object.entries(customFields).map(([name, value]) => html`<br>${name}: ${value}`)}</p>
<ul>${sends.slice(-5).map(sendLine)}</ul>
<form method="post" action="/page/assignments/${encodeURIComponent(id)}" class="row small">
${others.map((other) => html`<button name="status" value="${other}">make it ${other}</button>`)}
</form></section>`;
}

function sendLine({ at, groupIds, radiusMiles, workers }: Send): Html {
  const groups = groupIds.length === 0 ? 'all groups' : `group ${groupIds.join(', ')}`;
  const radius = radiusMiles === undefined ? '' : ` within ${radiusMiles} mi`;
  const reached = workers.map(({ name, miles }) => `${name} (${miles} mi)`).join(', ');
  const look = reached === '' ? 'bad' : 'good';
  return html`<li>${time(at)} to ${groups}${radius}: <span class="${look}">${reached || 'nobody'}</span></li>`;
}

function ticketCard({ id, updatedAt, userDefinedFields }: Ticket): Html {
  return html`<section class="card">
<div class="row spread"><h3>${id}</h3><span class="soft">${time(updatedAt)}</span></div>
<ul>${userDefinedFields.map(({ name, value }) => html`<li><span class="soft">${name}:</span> ${value}</li>`)}</ul></section>`;
}

function callRow({ at, method, path, status, repeat, body, idempotencyKey }: Call): Html {
  const look = status === 'waiting' ? 'wait' : typeof status === 'number' && status < 400 ? 'good' : 'bad';
  return html`<tr><td>${time(at)}</td><td class="tight">${method} ${path}</td>
<td><span class="${look}">${status}</span>${repeat ? ' (a repeat: not done again)' : ''}</td>
<td><code>${body === undefined ? '' : JSON.stringify(body)}</code></td>
<td><code>${idempotencyKey ?? ''}</code></td></tr>`;
}

function describe({ times, path, delayMs, afterActing, dropConnection, status }: PlatformFailure): string {
  const what = [
    ...(delayMs === undefined ? [] : [`wait ${delayMs / 1000} s`]),
    ...(afterActing ? ['are carried out'] : []),
    ...(dropConnection ? ['have their connection broken'] : status === undefined ? [] : [`are answered ${status}`]),
  ];
  return `${times === undefined ? 'all' : `the next ${times}`} ${path ? subjects[path] : 'calls'} ${what.join(', ')}`;
}

function tone(status: string): string {
  return status === 'draft' ? 'wait' : status === 'sent' || status === 'accepted' ? 'good' : '';
}
