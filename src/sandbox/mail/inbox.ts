/** The mail catcher's inbox, as web pages and as JSON. The JSON is Mailpit's API, so tests and scripts also work with Mailpit. */

import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Address, Mailbox as NamedAddress } from 'postal-mime';
import type { Html } from '../../api/page.js';
import { counted } from '../../chain/text.js';
import { type Fault, faultButtons, faultCard, type MailFailure } from '../fault.js';
import { button, sendPage, time } from '../page.js';
import type { Mailbox, Message } from './mailbox.js';

export function inbox(mailbox: Mailbox, fault: Fault<MailFailure>): Hono {
  const list = (c: Context) => {
    const all = mailbox.list();
    const matching = all.filter((message) => matches(message, c.req.query('query') ?? ''));
    return c.json({ total: all.length, messages_count: matching.length, messages: matching.map(summary) });
  };
  const empty = button(() => mailbox.empty());
  return new Hono()
    .get('/api/v1/messages', list)
    .get('/api/v1/search', list)
    .get('/api/v1/message/:id', (c) => {
      const message = mailbox.get(c.req.param('id'));
      return c.json({ ...summary(message), Text: message.email.text ?? '', HTML: message.email.html ?? '' });
    })
    .get('/api/v1/message/:id/raw', (c) => {
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
      return c.body(new Uint8Array(mailbox.get(c.req.param('id')).raw), 200, headers);
    })
    .delete('/api/v1/messages', (c) => {
      mailbox.empty();
      return c.text('ok');
    })
    .get('/', (c) => sendPage(c, { title: 'Inbox', header: listHeader, main: listMain(mailbox, fault), live: true }))
    .get('/message/:id', (c) => {
      const message = mailbox.get(c.req.param('id'));
      const title = subject(message);
      const header = html`<p><a href="/">← Inbox</a></p><h1>${title}</h1>`;
      return sendPage(c, { title, header, main: messageMain(message), live: false });
    })
    .get('/view/:id', (c) => {
      c.header('Content-Security-Policy', messagePolicy);
      c.header('Referrer-Policy', 'no-referrer');
      return c.html(`<!doctype html><base target="_blank">${mailbox.get(c.req.param('id')).email.html ?? ''}`);
    })
    .post('/page/empty', empty);
}

/** The HTML of a message is not trusted: it cannot run scripts, send requests or access this page. Links open in a new tab. */
const messagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

function summary({ id, email: { messageId = '', from, to, subject = '' }, receivedAt }: Message) {
  const named = (of: Addresses) => mailboxes(of).map(({ name, address }) => ({ Name: name, Address: address }));
  const MessageID = messageId.replace(/^<|>$/g, '');
  return { ID: id, MessageID, From: named(from)[0] ?? null, To: named(to), Subject: subject, Created: receivedAt };
}

/** Whether a message contains the text of the query, in upper or lower case. `to:` searches only the recipients. */
function matches({ email: { to, from, subject, text, html } }: Message, query: string): boolean {
  const [, field, sought = ''] = /^(to:)?"?(.*?)"?$/is.exec(query) ?? [];
  const searched = field === undefined ? [written(to), written(from), subject, text, html].join('\n') : written(to);
  return searched.toLowerCase().includes(sought.toLowerCase());
}

type Addresses = Address | Address[] | undefined;

/** For example `Ada <ada@example.com>, ben@example.com`. */
function written(of: Addresses): string {
  const each = mailboxes(of).map(({ name, address }) => (name === '' ? address : `${name} <${address}>`));
  return each.join(', ');
}

/** Returns single addresses. Replaces a group by its members. */
const mailboxes = (of: Addresses = []): NamedAddress[] => [of].flat().flatMap((address) => address.group ?? [address]);

const listHeader = html`<h1>Inbox</h1>
<p class="soft">This inbox catches every e-mail that the relay sends on this machine. Nothing is delivered.</p>
<form method="post" action="/page/fail" class="row">
${faultButtons({ 'Refuse temporarily (451)': { code: 451 }, 'Refuse permanently (550)': { code: 550 } })}
<button formaction="/page/empty">Empty the inbox</button>
</form>`;

const messagesShown = 200;

function listMain(mailbox: Mailbox, fault: Fault<MailFailure>): Html {
  const messages = mailbox.list();
  return html`${faultCard(fault)}
<h2>${counted(messages.length, 'message')}${messages.length > messagesShown && html` <span class="soft">(the newest ${messagesShown} are shown)</span>`}</h2>
${messages.slice(0, messagesShown).map(
  (message) => html`<a class="card mail" href="/message/${message.id}">
<div class="row spread"><h3>${subject(message)}</h3><span class="soft">${time(message.receivedAt)}</span></div>
<p>to ${written(message.email.to)} <span class="soft">from ${written(message.email.from)}</span></p>
<p class="soft">${message.email.text?.slice(0, 250)}</p></a>`,
)}`;
}

function messageMain({ email, id, receivedAt }: Message): Html {
  const { from, to, cc, replyTo, text } = email;
  const rows = Object.entries({ From: from, To: to, Cc: cc, 'Reply-To': replyTo }).filter(([, value]) => value !== undefined);
  const frame = html`<h2>HTML</h2>
<iframe title="HTML of the message" referrerpolicy="no-referrer"
 sandbox="allow-popups allow-popups-to-escape-sandbox" src="/view/${id}"></iframe>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Addresses"><table>
${rows.map(([name, value]) => html`<tr><th>${name}</th><td>${written(value)}</td></tr>`)}
<tr><th>Received</th><td>${time(receivedAt)}</td></tr>
</table></div>
${text && html`<h2>Text</h2><pre class="card">${text}</pre>`}
${email.html && frame}
<details><summary>Headers</summary><pre class="card">${email.headerLines.map(({ line }) => `${line}\n`)}</pre></details>
<p><a href="/api/v1/message/${id}/raw">Raw message</a></p>`;
}

const subject = ({ email }: Message) => email.subject?.trim() || '(no subject)';
