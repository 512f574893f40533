/** The receiving end of the mail catcher: an SMTP server that takes everything from everybody, unless it was told to fail. */

import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { z } from 'zod';
import { listen } from '../../service/server.js';
import type { Fault } from '../fault.js';
import type { Mailbox } from './mailbox.js';

/** How the mail catcher fails; one of `code` and `dropAfterBody`. */
export const mailFailureSchema = z
  .strictObject({
    /** The SMTP reply to a recipient. */
    code: z.int().min(400).max(599).optional(),
    /** Keeps the message and breaks the connection before it says so: the sender cannot know. */
    dropAfterBody: z.boolean().optional(),
    /** Only recipients that contain this, in any case. */
    to: z.string().optional(),
    /** Heals after so many failures. */
    times: z.int().min(1).optional(),
  })
  .refine(
    (failure) => (failure.code === undefined) === (failure.dropAfterBody === true),
    'give either "code" or "dropAfterBody": true',
  );
export type MailFailure = z.infer<typeof mailFailureSchema>;

/** Whether a failure of this kind concerns a message to these recipients. */
const concerns = (kind: 'code' | 'dropAfterBody', recipients: string[]) => (failure: MailFailure) =>
  failure[kind] !== undefined &&
  recipients.some((recipient) => recipient.toLowerCase().includes(failure.to?.toLowerCase() ?? ''));

const largestMessage = 25 * 1024 * 1024;

/** @throws StartError when the port is taken */
export async function receiveMail(
  mailbox: Mailbox,
  fault: Fault<MailFailure>,
  at: { host: string; port: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    authOptional: true,
    allowInsecureAuth: true,
    size: largestMessage,
    rejectOversized: true,
    closeTimeout: 1000,
    onAuth: (_auth, _session, done) => done(null, { user: 'anybody' }),
    onRcptTo({ address }, _session, done) {
      const code = fault.meet(concerns('code', [address]))?.code;
      done(code === undefined ? null : Object.assign(new Error('told to fail'), { responseCode: code }));
    },
    async onData(stream, session, done) {
      try {
        const body = await buffer(stream);
        if (stream.sizeExceeded) return done(null);
        const message = await mailbox.keep(Buffer.concat([trace(session), body]));
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        if (fault.meet(concerns('dropAfterBody', recipients)) === undefined) return done(null, `kept as ${message.id}`);
        for (const connection of smtp.connections) if (connection.id === session.id) connection.close();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // An error of one connection is its client's to see.
  smtp.on('error', () => {});
  const address = await listen(smtp.server, { ...at, variable: 'RELAY_SMTP_PORT' });
  return { url: `smtp://${address}`, close: () => new Promise((closed) => smtp.close(closed)) };
}

/** The header lines that a receiving mail server adds, so that the envelope is kept with the message. */
function trace({ envelope }: SMTPServerSession): Buffer {
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  const lines = [`Return-Path: <${from}>`, ...envelope.rcptTo.map(({ address }) => `Delivered-To: ${address}`), ''];
  return Buffer.from(lines.join('\r\n'));
}
