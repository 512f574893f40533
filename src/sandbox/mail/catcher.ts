/** The mail catcher. The catcher accepts every e-mail over SMTP, delivers no e-mail, and shows all e-mails in a web inbox. */

import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { listen, serveHttp } from '../../service/server.js';
import { Fault, faultRoutes, type MailFailure, mailFailureSchema } from '../fault.js';
import { pageServer } from '../page.js';
import { inbox } from './inbox.js';
import { Mailbox } from './mailbox.js';

/**
 * @param options.smtpPort and `uiPort`: 0 means any free port
 * @param options.directory keeps the messages over restarts; if absent, the messages are only in memory
 * @throws StartError if a port is in use
 */
export async function startMailCatcher(options: { host: string; smtpPort: number; uiPort: number; directory?: string }) {
  const { host, smtpPort, uiPort } = options;
  const mailbox = await Mailbox.open(options.directory);
  const fault = new Fault(mailFailureSchema);
  const smtp = smtpServer(mailbox, fault);
  const app = pageServer().route('/', faultRoutes(fault)).route('/', inbox(mailbox, fault));
  const smtpAddress = await listen(smtp.server, { host, port: smtpPort, variable: 'RELAY_SMTP_PORT' });
  const closeSmtp = () => new Promise<void>((closed) => smtp.close(closed));
  try {
    const ui = await serveHttp(app, { host, port: uiPort, variable: 'RELAY_MAIL_UI_PORT', graceMs: 0 });
    const close = async () => void (await Promise.all([closeSmtp(), ui.close()]));
    return { smtpUrl: `smtp://${smtpAddress}`, uiUrl: ui.url, close };
  } catch (error) {
    await closeSmtp();
    throw error;
  }
}

function smtpServer(mailbox: Mailbox, fault: Fault<MailFailure>): SMTPServer {
  const meets = (kind: 'code' | 'dropAfterBody', recipients: string[]) => {
    const concerned = (to = '') => recipients.some((address) => address.toLowerCase().includes(to.toLowerCase()));
    return fault.meet((failure) => Boolean(failure[kind]) && concerned(failure.to));
  };
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    authOptional: true,
    allowInsecureAuth: true,
    size: 25 * 1024 * 1024,
    rejectOversized: true,
    closeTimeout: 1000,
    onAuth: (_auth, _session, done) => done(null, { user: 'anybody' }),
    onRcptTo({ address }, _session, done) {
      const failure = meets('code', [address]);
      done(failure && Object.assign(new Error('set to fail'), { responseCode: failure.code }));
    },
    async onData(stream, session, done) {
      try {
        const body = await buffer(stream);
        if (stream.sizeExceeded) return done(null);
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        const id = await mailbox.keep(Buffer.concat([trace(session, recipients), body]));
        if (!meets('dropAfterBody', recipients)) return done(null, `kept as ${id}`);
        for (const connection of smtp.connections) if (connection.id === session.id) connection.close();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // Ignores errors of connections, because the client sees them.
  return smtp.on('error', () => {});
}

/** The headers that a receiving mail server adds. The headers keep the addresses of the SMTP envelope with the message. */
function trace({ envelope }: SMTPServerSession, recipients: string[]): Buffer {
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  return Buffer.from([`Return-Path: <${from}>`, ...recipients.map((to) => `Delivered-To: ${to}`), ''].join('\r\n'));
}
