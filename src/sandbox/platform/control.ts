/** The page and the controls of the demo platform: people and tests set failures, change assignments, and reset the state. */

import type { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Html } from '../../api/page.js';
import { faultButtons, faultCard, faultRoutes } from '../fault.js';
import { button, found, jsonBody, sendPage, time } from '../page.js';
import type { Assignment, Call, Delivery, PlatformState, Ticket, Webhook } from './state.js';
import { changeSchema } from './state.js';
import { events, type PlatformEvent, savedWebhook, type Webhooks, webhookOf } from './webhooks.js';
import { groups } from './world.js';

/** The requests that change the platform, with example bodies. `GET /control` lists these requests. */
const requests = {
  'PUT /control/fail': { status: 404, path: 'send' },
  'DELETE /control/fail': null,
  'POST /control/assignments': { id: '2001', status: 'draft' },
  'POST /control/assignments/:id/status': { status: 'accepted' },
  'POST /control/reset': null,
};

const statusSchema = changeSchema.pick({ status: true }).required();
const eventNames = Object.keys(events) as PlatformEvent[];
const eventSchema = changeSchema.pick({ id: true }).extend({ event: z.enum(eventNames).default('create') });

export function controlOf(state: PlatformState, webhooks: Webhooks): Hono {
  const fire = button((form) => {
    const { event, id } = eventSchema.parse(form);
    webhooks.fire(event, { id });
  });
  const reset = button(() => state.reset());
  const day = button((form) => (form.day === 'stop' ? webhooks.stop() : webhooks.play()));
  const save = button(({ event, ...webhook }) => {
    const name = z.enum(eventNames).parse(event);
    state.put('webhooks', name, savedWebhook(state, name, state.webhooks.schema.parse(webhook)));
  }, '/?saved');
  return faultRoutes(state.fault, { requests })
    .get('/journal', (c) => c.json([...state.calls.values()]))
    .post('/control/reset', (c) => {
      state.reset();
      return c.json({ requests });
    })
    .post('/control/assignments', async (c) => {
      const change = changeSchema.parse(await jsonBody(c));
      const status = state.assignments.has(change.id) ? 200 : 201;
      return c.json(state.change(change), status);
    })
    .post('/control/assignments/:id/status', async (c) => {
      const { status } = statusSchema.parse(await jsonBody(c));
      const { id } = found(state.assignments.get(c.req.param('id')), `assignment ${c.req.param('id')}`);
      return c.json(state.change({ id, status }));
    })
    .get('/', (c) => {
      const header = headerOf(state, c.req.query('saved') !== undefined);
      return sendPage(c, { title: 'Demo platform', header, main: overview(state, webhooks), live: true });
    })
    .post('/page/reset', reset)
    .post('/page/day', day)
    .post('/page/webhooks/:event', save)
    .post('/page/assignments', fire)
    .post('/page/assignments/:id', fire);
}

const headerOf = (state: PlatformState, isSaved: boolean) => html`<h1>Demo platform</h1>
<p class="soft">This program simulates an assignment platform and a ticket system. Nothing here is real.
The <a href="/vendors">simulators of vendors</a> have a page of their own.</p>
<form method="post" action="/page/fail" class="row">
<label for="path">Let</label>
<select name="path" id="path">
<option value="">all calls</option>
<option value="send">sends</option>
<option value="assignments">assignment reads</option>
<option value="tickets">ticket calls</option>
</select> fail:
${faultButtons({
  'Answer 503': { status: 503 },
  'Answer 422': { status: 422 },
  'Answer after 20 s': { delayMs: 20_000 },
  'Break connections': { dropConnection: true },
})}
<button formaction="/page/reset">Reset the platform</button>
</form>
<form method="post" action="/page/assignments" class="row small">
<label for="id">New assignment</label>
<input name="id" id="id" size="12" required pattern="[A-Za-z0-9_\\-]{1,64}" placeholder="2001">
<button>create</button>
</form>
<form method="post" action="/page/day" class="row small">
<button>Play a day in ten minutes</button><button name="day" value="stop">Stop the day</button>
</form>
<details${isSaved && html` open`}><summary>Webhooks</summary>
${isSaved && html`<p role="status"><strong>The webhook is saved.</strong></p>`}
<p class="soft">Each button of an assignment sends the webhook of its event. A played day also sends webhooks. To test a rule that
you wrote, paste the address of the rule as URL, and save. A body that you did not change becomes empty: then the platform sends the
event as JSON. Variables such as <code>\${assignment_id}</code> are pasted as text. <code>&lt;RELAY_ACCESS_TOKEN&gt;</code> becomes the token of the demo rule.</p>
${eventNames.map((event) => webhookForm(event, webhookOf(state, event)))}</details>`;

const webhookForm = (event: PlatformEvent, { url, body }: Webhook) => html`<form method="post" class="card"
action="/page/webhooks/${encodeURIComponent(event)}"><strong>${event}</strong>
<label>URL <input name="url" type="url" value="${url}"></label>
<label>Body <textarea name="body" rows="${body === '' ? 2 : 10}" spellcheck="false">${body}</textarea></label>
<button>Save the webhook of ${event}</button></form>`;

const callsShown = 50;
const cardsShown = 100;

function overview({ fault, assignments, tickets, calls, deliveries }: PlatformState, { stepsLeft }: Webhooks): Html {
  const latest = <Row>(rows: Map<string, Row>) => [...rows.values()].slice(-callsShown).reverse();
  return html`${faultCard(fault)}
${stepsLeft > 0 && html`<p class="card"><strong>The day runs:</strong> ${stepsLeft} of 60 steps are left.</p>`}
<h2>Assignments</h2>
<div class="cards">${[...assignments.values()].slice(-cardsShown).map(assignmentCard)}</div>
<h2>Tickets</h2>
<div class="cards">${[...tickets.values()].slice(-cardsShown).map(ticketCard)}</div>
<h2>Groups and technicians</h2>
<div class="cards">${groups.map(
    (group) => html`<section class="card"><h3>${group.id} · ${group.name}</h3>
<ul>${group.workers.map((worker) => html`<li>${worker.name} <span class="soft">${worker.city}</span></li>`)}</ul></section>`,
  )}</div>
<h2>Webhooks sent <span class="soft">(the latest ${callsShown})</span></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Webhooks sent"><table>
<tr><th>Time</th><th>Event</th><th>First answer</th><th>Second answer</th><th>Body</th></tr>
${latest(deliveries).map(deliveryRow)}</table></div>
<h2>Calls received <span class="soft">(the latest ${callsShown})</span></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Calls received"><table>
<tr><th>Time</th><th>Call</th><th>Answer</th><th>Body</th><th>Idempotency key</th></tr>${latest(calls).map(callRow)}</table></div>`;
}

const good = { sent: 'good', accepted: 'good', 'in progress': 'good', completed: 'good' };
const tones = new Map<unknown, string>(Object.entries({ draft: 'wait', waiting: 'wait', ...good }));

function assignmentCard({ id, title, status, location, ownerEmail, worker, checkedInOn, customFields, sends }: Assignment): Html {
  return html`<section class="card">
<div class="row spread"><h3>${id} · ${title}</h3><span class="badge ${tones.get(status)}">${status}</span></div>
<p class="soft">${location.address}, ${location.city}, ${location.state} ${location.zip}<br>${ownerEmail}${worker && html`<br>Technician: ${worker}`}
${checkedInOn && html`<br>Checked in: ${time(checkedInOn)}`}
${Object.entries(customFields).map(([name, value]) => html`<br>${name}: ${value}`)}</p>
<ul>${sends.slice(-5).map(sendLine)}</ul>
<form method="post" action="/page/assignments/${encodeURIComponent(id)}" class="row small">
${eventNames.map((event) => html`<button name="event" value="${event}">${event}</button>`)}
</form></section>`;
}

function sendLine({ at, groupIds, radiusMiles, workers }: Assignment['sends'][number]): Html {
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

function deliveryRow({ at, event, assignment, url, body, answers }: Delivery): Html {
  const cell = (answer = '') => html`<td><span class="${answer.startsWith('2') ? 'good' : 'bad'}">${answer}</span></td>`;
  return html`<tr><td>${time(at)}</td><td class="tight">${event} ${assignment}</td>${cell(answers[0])}${cell(answers[1])}
<td><details><summary>to ${url}</summary><pre>${body}</pre></details></td></tr>`;
}

function callRow({ at, method, path, status, repeat, body, idempotencyKey }: Call): Html {
  const look = tones.get(status) ?? (Number(status) < 400 ? 'good' : 'bad');
  return html`<tr><td>${time(at)}</td><td class="tight">${method} ${path}</td>
<td><span class="${look}">${status}</span>${repeat ? ' (repeated key: not run again)' : ''}</td>
<td><code>${body === undefined ? '' : JSON.stringify(body)}</code></td>
<td><code>${idempotencyKey ?? ''}</code></td></tr>`;
}
