/** The inbox of the mail catcher: in the browser, and as JSON in the shapes of Mailpit, so that a test or a script works with either. */

import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Address, Mailbox as NamedAddress } from 'postal-mime';
import type { Html } from '../../api/page.js';
import { type Fault, faultCard, type MailFailure } from '../fault.js';
import { button, sendPage, time } from '../page.js';
import type { Mailbox, Message } from './mailbox.js';

export function inbox(mailbox: Mailbox, fault: Fault<MailFailure>): Hono {
  const list = (c: Context) => {
    const all = mailbox.list();
    const matching = all.filter((message) => matches(message, c.req.query('query') ?? ''));
    return c.json({ total: all.length, messages_count: matching.length, messages: matching.map(summary) });
  };
  /** Shows a message that is there. */
  const showing = (show: (c: Context, message: Message) => Response | Promise<Response>) => (c: Context) => {
    const message = mailbox.get(c.req.param('id') ?? '');
    return message === undefined ? c.notFound() : show(c, message);
  };
  const fail = button(({ code }) => {
    fault.now = { code: Number(code) };
  });
  const empty = button(() => mailbox.empty());
  return new Hono()
    .get('/api/v1/messages', list)
    .get('/api/v1/search', list)
    .get('/api/v1/message/:id', showing(wholeMessage))
    .get('/api/v1/message/:id/raw', showing(rawMessage))
    .delete('/api/v1/messages', (c) => {
      mailbox.empty();
      return c.text('ok');
    })
    .get('/', (c) => sendPage(c, { title: 'Inbox', header: listHeader(), main: listMain(mailbox, fault), live: true }))
    .get('/message/:id', showing(messagePage))
    .get('/view/:id', showing(messageHtml))
    .post('/page/fail/:code{4\\d\\d|5\\d\\d}', fail)
    .post('/page/empty', empty);
}

function wholeMessage(c: Context, message: Message): Response {
  const { text = '', html = '' } = message.email;
  return c.json({ ...summary(message), Text: text, HTML: html });
}

function rawMessage(c: Context, { raw }: Message): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return c.body(new Uint8Array(raw), 200, headers);
}

function summary({ id, email: { messageId = '', from, to, subject = '' }, receivedAt }: Message) {
  const named = (of: Addresses) => mailboxes(of).map(({ name, address }) => ({ Name: name, Address: address }));
  return {
    ID: id,
    MessageID: messageId.replace(/^<|>$/g, ''),
    From: named(from)[0] ?? null,
    To: named(to),
    Subject: subject,
    Created: receivedAt,
  };
}

/** Whether it has this text, in any case; after `to:`, among its recipients. */
function matches({ email: { to, from, subject, text, html } }: Message, query: string): boolean {
  const [, field, sought = ''] = /^(to:)?"?(.*?)"?$/is.exec(query) ?? [];
  const searched = field === undefined ? [written(to), written(from), subject, text, html].join('\n') : written(to);
  return searched.toLowerCase().includes(sought.toLowerCase());
}

type Addresses = Address | Address[] | undefined;

/** Addresses as a header has them: `Ada <ada@example.com>, ben@example.com`. */
function written(of: Addresses): string {
  const each = mailboxes(of).map(({ name, address }) => (name === '' ? address : `${name} <${address}>`));
  return each.join(', ');
}

/** Groups unwrapped. */
function mailboxes(of: Addresses = []): NamedAddress[] {
  return [of].flat().flatMap((address) => address.group ?? [address]);
}

function listHeader(): Html {
  return html`<h1>Inbox</h1>
<p class="soft">Every e-mail that the relay sends on this machine ends here. None leaves it.</p>
<form method="post" class="row">
<button formaction="/page/fail/451">Refuse for now (451)</button>
<button formaction="/page/fail/550">Refuse for good (550)</button>
<button formaction="/page/heal">Heal</button>
<button formaction="/page/empty">Empty the inbox</button>
</form>`;
}

const messagesShown = 200;

function listMain(mailbox: Mailbox, fault: Fault<MailFailure>): Html {
  const messages = mailbox.list();
  const more = messages.length > messagesShown ? `, the newest ${messagesShown} shown` : '';
  return html`${faultCard(fault)}
<h2>${messages.length === 1 ? '1 message' : `${messages.length} messages`}${more}</h2>
${messages.slice(0, messagesShown).map(
  (message) => html`<a class="card mail" href="/message/${message.id}">
<div class="row spread"><h3>${subject(message)}</h3><span class="soft">${time(message.receivedAt)}</span></div>
<p>to ${written(message.email.to)} <span class="soft">from ${written(message.email.from)}</span></p>
<p class="soft">${message.email.text?.slice(0, 250)}</p></a>`,
)}`;
}

function messagePage(c: Context, message: Message) {
  const { email, id, receivedAt } = message;
  const { from, to, cc, replyTo, text } = email;
  const rows = {
    From: written(from),
    To: written(to),
    Cc: written(cc),
    'Reply-To': written(replyTo),
    Received: time(receivedAt),
  };
  const header = html`<p><a href="/">← Inbox</a></p><h1>${subject(message)}</h1>`;
  const main = html`<div class="scroll"><table>
${Object.entries(rows).map(([name, value]) => value && html`<tr><th>${name}</th><td>${value}</td></tr>`)}
</table></div>
${text && html`<h2>Text</h2><pre class="card">${text}</pre>`}
${
  email.html &&
  html`<h2>HTML</h2>
<iframe title="The HTML" referrerpolicy="no-referrer"
 sandbox="allow-popups allow-popups-to-escape-sandbox" src="/view/${id}"></iframe>`
}
<details><summary>Headers</summary><pre class="card">${email.headerLines.map(({ line }) => `${line}\n`)}</pre></details>
<p><a href="/api/v1/message/${id}/raw">Raw message</a></p>`;
  return sendPage(c, { title: subject(message), header, main, live: false });
}

/** A message's HTML is a stranger's: no scripts, nothing fetched, no access to this page; its links open elsewhere. */
const messagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

function messageHtml(c: Context, { email }: Message): Response | Promise<Response> {
  if (email.html === undefined) return c.notFound();
  c.header('Content-Security-Policy', messagePolicy);
  c.header('Referrer-Policy', 'no-referrer');
  return c.html(`<!doctype html><base target="_blank">${email.html}`);
}

function subject({ email }: Message): string {
  return email.subject?.trim() || '(no subject)';
}
