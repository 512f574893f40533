/** The inbox of the mail catcher in the browser: the list of messages, and one message as it was meant to be read. */

import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Html } from '../../api/page.js';
import type { Fault, MailFailure } from '../fault.js';
import { pageButtons, sendPage, time } from '../page.js';
import type { Mailbox, Message } from './mailbox.js';
import { snippet, written } from './message-api.js';

const messagesShown = 200;

/** A message's HTML is a stranger's: no scripts, nothing fetched, no access to this page; its links open elsewhere. */
const messagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

export function inboxPage(mailbox: Mailbox, fault: Fault<MailFailure>): Hono {
  return new Hono()
    .get('/', (c) => sendPage(c, { title: 'Inbox', header: listHeader(), main: listMain(mailbox, fault), live: true }))
    .get('/message/:id', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      message.read = true;
      const header = html`<p><a href="/">← Inbox</a></p><h1>${subject(message)}</h1>`;
      return sendPage(c, { title: subject(message), header, main: messageMain(message), live: false });
    })
    .get('/view/:id', (c) => {
      const content = mailbox.get(c.req.param('id'))?.email.html;
      if (content === undefined) return c.notFound();
      c.header('Content-Security-Policy', messagePolicy);
      c.header('Referrer-Policy', 'no-referrer');
      return c.html(`<!doctype html><base target="_blank">${content}`);
    })
    .route(
      '/',
      pageButtons({
        '/page/fail/:code{4\\d\\d|5\\d\\d}': ({ code }) => {
          fault.now = { code: Number(code) };
        },
        '/page/empty': () => mailbox.empty(),
      }),
    );
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

function describe({ code, to, times }: MailFailure): string {
  const what = code === undefined ? 'connections are broken after the message' : `mail is refused with ${code}`;
  return `${what}${to === undefined ? '' : ` for addresses with "${to}"`}${times === undefined ? '' : `, ${times} more times`}`;
}

function listMain(mailbox: Mailbox, fault: Fault<MailFailure>): Html {
  const messages = mailbox.list();
  const more = messages.length > messagesShown ? `, the newest ${messagesShown} shown` : '';
  return html`${fault.now ? html`<p class="card"><strong class="bad">Failing:</strong> ${describe(fault.now)}</p>` : ''}
<h2>${messages.length === 1 ? '1 message' : `${messages.length} messages`}${more}</h2>
${messages.slice(0, messagesShown).map(
  (message) => html`<a class="card mail ${message.read ? '' : 'unread'}" href="/message/${message.id}">
<div class="row spread"><h3>${subject(message)}</h3><span class="soft">${time(message.receivedAt.toISOString())}</span></div>
<p>to ${written(message.email.to)} <span class="soft">from ${written(message.email.from)}</span></p>
<p class="soft">${snippet(message)}</p></a>`,
)}`;
}

function messageMain({ email, id, receivedAt }: Message): Html {
  const rows = { From: written(email.from), To: written(email.to), Cc: written(email.cc), 'Reply-To': written(email.replyTo) };
  return html`<div class="scroll"><table>
${Object.entries(rows).map(([name, value]) => (value === '' ? '' : html`<tr><th>${name}</th><td>${value}</td></tr>`))}
<tr><th>Received</th><td>${time(receivedAt.toISOString())}</td></tr>
<tr><th>Message-ID</th><td><code>${email.messageId ?? ''}</code></td></tr>
</table></div>
${email.text === undefined ? '' : html`<h2>Text</h2><pre class="card">${email.text}</pre>`}
${
  email.html === undefined
    ? ''
    : html`<h2>HTML</h2>
<iframe title="The HTML" referrerpolicy="no-referrer"
 sandbox="allow-popups allow-popups-to-escape-sandbox" src="/view/${id}"></iframe>
<details><summary>HTML source</summary><pre class="card">${email.html}</pre></details>`
}
<details><summary>Headers</summary><pre class="card">${email.headerLines.map(({ line }) => `${line}\n`)}</pre></details>
<p><a href="/api/v1/message/${id}/raw">Raw message</a></p>`;
}

function subject({ email }: Message): string {
  return email.subject?.trim() || '(no subject)';
}
