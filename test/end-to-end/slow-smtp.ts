/** A slow mail server that refuses chosen recipients. The mail catcher cannot do this. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';

export interface SlowSmtp {
  url: string;
  /** The recipients in the order in which their messages began, including refused ones. */
  begun: string[];
  /** The recipients of messages with a complete body, accepted or not. */
  arrived: string[];
  /** The accepted messages, even if the sender had disconnected by then. */
  got: { to: string; messageId: string | undefined }[];
}

/**
 * @param script.hold - milliseconds between a message and its acceptance
 * @param script.refuse - the SMTP code that refuses a recipient
 */
export async function startSlowSmtp(script: {
  hold?: (to: string) => number;
  refuse?: (to: string) => number | undefined;
}): Promise<SlowSmtp> {
  const smtp: Omit<SlowSmtp, 'url'> = { begun: [], arrived: [], got: [] };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    closeTimeout: 100,
    onRcptTo({ address }, _session, done) {
      smtp.begun.push(address);
      const code = script.refuse?.(address);
      done(code === undefined ? null : Object.assign(new Error('told to refuse'), { responseCode: code }));
    },
    async onData(stream, session, done) {
      const body = await buffer(stream).catch((error: Error) => error);
      if (body instanceof Error) return done(body);
      const text = String(body);
      const to = session.envelope.rcptTo[0]?.address ?? '';
      smtp.arrived.push(to);
      await sleep(script.hold?.(to) ?? 0);
      smtp.got.push({ to, messageId: /^message-id: (.*)$/im.exec(text)?.[1] });
      done(null, 'taken');
    },
  });
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  after(() => new Promise<void>((closed) => server.close(closed)));
  return { url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`, ...smtp };
}
