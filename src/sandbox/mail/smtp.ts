/** The receiving end of the mail sink: an SMTP server that takes everything from everybody, unless it was told to fail. */

import { once } from 'node:events';
import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { z } from 'zod';
import { authority, listenError } from '../ports.js';
import type { Mailbox } from './mailbox.js';

/** How the sink fails; one of `code` and `dropAfterBody`. */
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

/** How the sink fails at present. */
export class MailTrouble {
  failure: MailFailure | undefined;

  /** The failure of this kind that a message to these recipients meets, counted down. */
  take(kind: 'code' | 'dropAfterBody', recipients: string[]): MailFailure | undefined {
    const failure = this.failure;
    const to = failure?.to?.toLowerCase() ?? '';
    if (failure?.[kind] === undefined || !recipients.some((recipient) => recipient.toLowerCase().includes(to))) return undefined;
    if (failure.times !== undefined) this.failure = failure.times > 1 ? { ...failure, times: failure.times - 1 } : undefined;
    return failure;
  }
}

const largestMessage = 25 * 1024 * 1024;

/** @throws StartError when the port is taken */
export async function receiveMail(
  mailbox: Mailbox,
  trouble: MailTrouble,
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
      const code = trouble.take('code', [address])?.code;
      done(code === undefined ? null : Object.assign(new Error('told to fail'), { responseCode: code }));
    },
    async onData(stream, session, done) {
      try {
        const body = await buffer(stream);
        if (stream.sizeExceeded) return done(null);
        const message = await mailbox.keep(Buffer.concat([trace(session), body]));
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        if (trouble.take('dropAfterBody', recipients) === undefined) return done(null, `kept as ${message.id}`);
        for (const connection of smtp.connections) if (connection.id === session.id) connection.close();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // An error of one connection is its client's to see.
  smtp.on('error', () => {});
  const server = smtp.listen(at.port, at.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error, at.host, at.port, 'RELAY_SMTP_PORT');
  }
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : at.port;
  return { url: `smtp://${authority(at.host, port)}`, close: () => new Promise((closed) => smtp.close(closed)) };
}

/** The header lines that a receiving mail server adds, so that the envelope is kept with the message. */
function trace({ envelope, hostNameAppearsAs, remoteAddress, transmissionType }: SMTPServerSession): Buffer {
  return Buffer.from(
    [
      `Return-Path: <${envelope.mailFrom === false ? '' : envelope.mailFrom.address}>`,
      ...envelope.rcptTo.map(({ address }) => `Delivered-To: ${address}`),
      `Received: from ${hostNameAppearsAs} ([${remoteAddress}]) by ${hostname()} with ${transmissionType};`,
      `\t${new Date().toUTCString().replace('GMT', '+0000')}`,
      '',
    ].join('\r\n'),
  );
}
