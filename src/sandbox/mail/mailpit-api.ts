/** The mail sink's JSON API: the part of Mailpit's that a test or a script uses, in Mailpit's shapes, so that either may stand behind it. */

import { Hono } from 'hono';
import { z } from 'zod';
import { type Mailbox, type Message, mailboxes } from './mailbox.js';
import { type MailTrouble, mailFailureSchema } from './smtp.js';

export function mailpitApi(mailbox: Mailbox, trouble: MailTrouble): Hono {
  const list = (matching: Message[], query: Record<string, string>) => {
    const { start, limit } = pageSchema.parse(query);
    const all = mailbox.list();
    const unread = (messages: Message[]) => messages.filter(({ read }) => !read).length;
    const messages = matching.slice(start, start + limit).map(summary);
    return {
      total: all.length,
      unread: unread(all),
      count: messages.length,
      messages_count: matching.length,
      messages_unread: unread(matching),
      start,
      tags: [],
      messages,
    };
  };
  const failing = () => ({ fail: trouble.failure ?? null });

  return new Hono()
    .get('/api/v1/messages', (c) => c.json(list(mailbox.list(), c.req.query())))
    .get('/api/v1/search', (c) => {
      const matches = matcher(c.req.query('query') ?? '');
      return c.json(list(mailbox.list().filter(matches), c.req.query()));
    })
    .get('/api/v1/message/:id', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      message.read = true;
      return c.json(whole(message));
    })
    .get('/api/v1/message/:id/headers', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      const headers: Record<string, string[]> = Object.create(null);
      for (const { originalKey, value } of message.email.headers) headers[originalKey] = [...(headers[originalKey] ?? []), value];
      return c.json(headers);
    })
    .get('/api/v1/message/:id/raw', (c) => {
      const message = mailbox.get(c.req.param('id'));
      if (message === undefined) return c.notFound();
      return c.body(new Uint8Array(mailbox.raw(message)), 200, {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
      });
    })
    .delete('/api/v1/messages', async (c) => {
      const wanted = z.object({ IDs: z.array(z.string()).default([]) }).safeParse(await c.req.json().catch(() => ({})));
      if (!wanted.success) return c.text(z.prettifyError(wanted.error), 400);
      const ids = wanted.data.IDs.length > 0 ? wanted.data.IDs : mailbox.list().map(({ id }) => id);
      for (const id of ids) mailbox.remove(id);
      return c.text('ok');
    })
    .get('/control', (c) => c.json(failing()))
    .put('/control/fail', async (c) => {
      const failure = mailFailureSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!failure.success) return c.json({ error: z.prettifyError(failure.error) }, 400);
      trouble.failure = failure.data;
      return c.json(failing());
    })
    .delete('/control/fail', (c) => {
      trouble.failure = undefined;
      return c.json(failing());
    });
}

const pageSchema = z.object({
  start: z.coerce.number().int().nonnegative().catch(0),
  limit: z.coerce.number().int().positive().catch(50),
});

function addresses(message: Message) {
  const { email } = message;
  const plain = (of: Parameters<typeof mailboxes>[0]) =>
    mailboxes(of).map(({ name, address }) => ({ Name: name, Address: address }));
  return {
    From: plain(email.from)[0] ?? null,
    To: plain(email.to),
    Cc: plain(email.cc),
    Bcc: plain(email.bcc),
    ReplyTo: plain(email.replyTo),
  };
}

function common(message: Message) {
  const { id, size, email } = message;
  return {
    ID: id,
    MessageID: bareId(email.messageId),
    ...addresses(message),
    Subject: email.subject ?? '',
    Tags: [],
    Size: size,
  };
}

function summary(message: Message) {
  return {
    ...common(message),
    Read: message.read,
    Created: message.receivedAt.toISOString(),
    Attachments: message.email.attachments.length,
    Snippet: snippet(message),
  };
}

function whole(message: Message) {
  const { email } = message;
  return {
    ...common(message),
    ReturnPath: bareId(email.returnPath),
    Date: dateOf(message).toISOString(),
    Text: email.text ?? '',
    HTML: email.html ?? '',
    Inline: [],
    Attachments: email.attachments.map((attachment, index) => ({
      PartID: String(index + 1),
      FileName: attachment.filename ?? '',
      ContentType: attachment.mimeType,
      ContentID: bareId(attachment.contentId),
      Size: attachment.content instanceof ArrayBuffer ? attachment.content.byteLength : attachment.content.length,
    })),
  };
}

/** The first 250 characters, on one line. */
export function snippet({ email }: Message): string {
  const text = email.text ?? (email.html ?? '').replace(/<style[\s\S]*?<\/style>|<[^>]*>/gi, ' ');
  return text.replace(/\s+/g, ' ').trim().slice(0, 250);
}

/** When it was written, or failing that received. */
function dateOf({ email, receivedAt }: Message): Date {
  const written = new Date(email.date ?? '');
  return Number.isNaN(written.getTime()) ? receivedAt : written;
}

function bareId(id: string | undefined): string {
  return (id ?? '').trim().replace(/^<|>$/g, '');
}

/**
 * Whether a message matches a Mailpit query: every term of `to:x`, `from:x`, `cc:x`, `subject:x`, `message-id:x` or bare text, quoted where it
 * has blanks, and turned round by a `-` before it. Part of the text, in any case, is enough.
 */
export function matcher(query: string): (message: Message) => boolean {
  const terms = [...query.matchAll(/(-|!)?(?:(to|from|cc|subject|message-id):)?(?:"([^"]*)"|(\S+))/gi)].map(
    ([, not, field, quoted, bare]) => ({
      not: not !== undefined,
      field: field?.toLowerCase() ?? '',
      text: (quoted ?? bare ?? '').toLowerCase(),
    }),
  );
  return (message) => {
    const { From, To, Cc, Subject, MessageID } = { ...common(message) };
    const written = (list: { Name: string; Address: string }[]) =>
      list.map(({ Name, Address }) => `${Name} <${Address}>`).join(', ');
    const fields: Record<string, string> = {
      to: written(To),
      from: written(From === null ? [] : [From]),
      cc: written(Cc),
      subject: Subject,
      'message-id': MessageID,
    };
    const everything = `${Object.values(fields).join('\n')}\n${message.email.text ?? ''}\n${message.email.html ?? ''}`;
    return terms.every(({ not, field, text }) => (fields[field] ?? everything).toLowerCase().includes(text) !== not);
  };
}
