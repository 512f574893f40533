/** The inbox of the mail catcher: as JSON in the shapes of Mailpit, so that a test or a script works with either, and in the browser. */

import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Address, Mailbox as NamedAddress } from 'postal-mime';
import { z } from 'zod';
import type { Html } from '../../api/page.js';
import type { Fault, MailFailure } from '../fault.js';
import { pageButtons, sendPage, time } from '../page.js';
import type { Mailbox, Message } from './mailbox.js';

const listSchema = z.object({
  query: z.string().default(''),
  start: z.coerce.number().int().nonnegative().catch(0),
  limit: z.coerce.number().int().positive().catch(50),
});
const deletionSchema = z.object({ IDs: z.array(z.string()).default([]) });

/** A message's HTML is a stranger's: no scripts, nothing fetched, no access to this page; its links open elsewhere. */
const messagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

export function inbox(mailbox: Mailbox, fault: Fault<MailFailure>): Hono {
  const list = (c: Context) => {
    const { query, start, limit } = listSchema.parse(c.req.query());
    const all = mailbox.list();
    const matching = all.filter(matcher(query));
    const messages = matching.slice(start, start + limit).map(summary);
    const unread = all.filter(({ read }) => !read).length;
    return c.json({ total: all.length, unread, count: messages.length, messages_count: matching.length, start, messages });
  };
  /** Shows a message that is there. */
  const showing = (show: (c: Context, message: Message) => Response | Promise<Response>) => (c: Context) => {
    const message = mailbox.get(c.req.param('id') ?? '');
    return message === undefined ? c.notFound() : show(c, message);
  };
  const buttons = pageButtons({
    '/page/fail/:code{4\\d\\d|5\\d\\d}': ({ code }) => {
      fault.now = { code: Number(code) };
    },
    '/page/empty': () => mailbox.empty(),
  });
  return new Hono()
    .get('/api/v1/messages', list)
    .get('/api/v1/search', list)
    .get('/api/v1/message/:id', showing(wholeMessage))
    .get('/api/v1/message/:id/headers', showing(messageHeaders))
    .get('/api/v1/message/:id/raw', showing(rawMessage))
    .delete('/api/v1/messages', async (c) => {
      const { data, error } = deletionSchema.safeParse(await c.req.json().catch(() => ({})));
      if (error) return c.text(z.prettifyError(error), 400);
      if (data.IDs.length === 0) mailbox.empty();
      for (const id of data.IDs) mailbox.remove(id);
      return c.text('ok');
    })
    .get('/', (c) => sendPage(c, { title: 'Inbox', header: listHeader(), main: listMain(mailbox, fault), live: true }))
    .get('/message/:id', showing(messagePage))
    .get('/view/:id', showing(messageHtml))
    .route('/', buttons);
}

function wholeMessage(c: Context, message: Message): Response {
  message.read = true;
  const { returnPath, text = '', html = '' } = message.email;
  return c.json({ ...summary(message), ReturnPath: bareId(returnPath), Text: text, HTML: html });
}

function messageHeaders(c: Context, { email }: Message): Response {
  const headers: Record<string, string[]> = Object.create(null);
  for (const { originalKey, value } of email.headers) headers[originalKey] = [...(headers[originalKey] ?? []), value];
  return c.json(headers);
}

function rawMessage(c: Context, { raw }: Message): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return c.body(new Uint8Array(raw), 200, headers);
}

function summary(message: Message) {
  const { id, email, receivedAt, read } = message;
  const named = (of: Addresses) => mailboxes(of).map(({ name, address }) => ({ Name: name, Address: address }));
  return {
    ID: id,
    MessageID: bareId(email.messageId),
    From: named(email.from)[0] ?? null,
    To: named(email.to),
    Cc: named(email.cc),
    ReplyTo: named(email.replyTo),
    Subject: email.subject ?? '',
    Read: read,
    Created: receivedAt.toISOString(),
    Snippet: snippet(message),
  };
}

/** The first 250 characters, on one line. */
function snippet({ email }: Message): string {
  const text = email.text ?? (email.html ?? '').replace(/<style[\s\S]*?<\/style>|<[^>]*>/gi, ' ');
  return text.replace(/\s+/g, ' ').trim().slice(0, 250);
}

function bareId(id = ''): string {
  return id.trim().replace(/^<|>$/g, '');
}

/**
 * Whether a message matches a Mailpit query: every term of `to:x`, `from:x`, `subject:x`, `message-id:x` or bare text, quoted
 * where it has blanks, and turned round by a `-` before it. Part of the text, in any case, is enough.
 */
function matcher(query: string): (message: Message) => boolean {
  const terms = [...query.matchAll(/(-)?(?:(to|from|subject|message-id):)?(?:"([^"]*)"|(\S+))/gi)];
  return ({ email: { from, to, subject = '', messageId = '', text = '', html = '' } }) => {
    const fields: Record<string, string> = { to: written(to), from: written(from), subject, 'message-id': messageId };
    const everything = [...Object.values(fields), text, html].join('\n');
    return terms.every(([, not, field = '', quoted, bare = '']) => {
      const place = fields[field.toLowerCase()] ?? everything;
      return place.toLowerCase().includes((quoted ?? bare).toLowerCase()) === (not === undefined);
    });
  };
}

type Addresses = Address | Address[] | undefined;

/** Addresses as a header has them: `Ada <ada@example.com>, ben@example.com`. */
function written(of: Addresses): string {
  return mailboxes(of)
    .map(({ name, address }) => (name === '' ? address : `${name} <${address}>`))
    .join(', ');
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

function describe({ code, to, times }: MailFailure): string {
  const what = code === undefined ? 'connections are broken after the message' : `mail is refused with ${code}`;
  return `${what}${to === undefined ? '' : ` for addresses with "${to}"`}${times === undefined ? '' : `, ${times} more times`}`;
}

const messagesShown = 200;

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

function messagePage(c: Context, message: Message) {
  message.read = true;
  const header = html`<p><a href="/">← Inbox</a></p><h1>${subject(message)}</h1>`;
  return sendPage(c, { title: subject(message), header, main: messageMain(message), live: false });
}

function messageHtml(c: Context, { email }: Message): Response | Promise<Response> {
  if (email.html === undefined) return c.notFound();
  c.header('Content-Security-Policy', messagePolicy);
  c.header('Referrer-Policy', 'no-referrer');
  return c.html(`<!doctype html><base target="_blank">${email.html}`);
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
