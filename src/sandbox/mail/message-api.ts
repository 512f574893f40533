/** The mail catcher's JSON API: the messages, in the shapes of Mailpit, so that a test or a script works with either. */

import { type Context, Hono } from 'hono';
import type { Address, Mailbox as NamedAddress } from 'postal-mime';
import { z } from 'zod';
import type { Mailbox, Message } from './mailbox.js';

const listSchema = z.object({
  query: z.string().default(''),
  start: z.coerce.number().int().nonnegative().catch(0),
  limit: z.coerce.number().int().positive().catch(50),
});

export function messageApi(mailbox: Mailbox): Hono {
  const list = (c: Context) => {
    const { query, start, limit } = listSchema.parse(c.req.query());
    const all = mailbox.list();
    const matching = all.filter(matcher(query));
    const messages = matching.slice(start, start + limit).map(summary);
    const unread = all.filter(({ read }) => !read).length;
    return c.json({ total: all.length, unread, count: messages.length, messages_count: matching.length, start, messages });
  };
  return new Hono()
    .get('/api/v1/messages', list)
    .get('/api/v1/search', list)
    .get('/api/v1/message/:id', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      message.read = true;
      const { returnPath, text = '', html = '' } = message.email;
      return c.json({ ...summary(message), ReturnPath: bareId(returnPath), Text: text, HTML: html });
    })
    .get('/api/v1/message/:id/headers', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      const headers: Record<string, string[]> = Object.create(null);
      for (const { originalKey, value } of message.email.headers) headers[originalKey] = [...(headers[originalKey] ?? []), value];
      return c.json(headers);
    })
    .get('/api/v1/message/:id/raw', (c) => {
      const raw = mailbox.get(c.req.param('id'))?.raw;
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
      return raw === undefined ? c.notFound() : c.body(new Uint8Array(raw), 200, headers);
    })
    .delete('/api/v1/messages', async (c) => {
      const wanted = z.object({ IDs: z.array(z.string()).default([]) }).safeParse(await c.req.json().catch(() => ({})));
      if (!wanted.success) return c.text(z.prettifyError(wanted.error), 400);
      if (wanted.data.IDs.length === 0) mailbox.empty();
      for (const id of wanted.data.IDs) mailbox.remove(id);
      return c.text('ok');
    });
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
export function snippet({ email }: Message): string {
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
export function written(of: Addresses): string {
  return mailboxes(of)
    .map(({ name, address }) => (name === '' ? address : `${name} <${address}>`))
    .join(', ');
}

/** Groups unwrapped. */
function mailboxes(of: Addresses = []): NamedAddress[] {
  return [of].flat().flatMap((address) => address.group ?? [address]);
}
