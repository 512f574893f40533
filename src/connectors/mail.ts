/** Sends e-mail through an SMTP server. Each message has its own connection, so that an error shows whether the body was sent. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import { createTransport, type Transporter } from 'nodemailer';
import { z } from 'zod';
import { bareAddress } from '../chain/address.js';
import { isLoopback } from '../contract/loopback.js';
import type { PrivateNetworks } from '../service/config.js';
import { authIn, type Call, ConnectorError, excerpt, percentDecoded, withDeadline } from './call.js';
import { guardOf, networkFailure } from './network.js';

export interface Message {
  to: string; // one address, optionally with a display name: `Ada Lovelace <ada@example.com>`
  subject: string;
  text: string;
  html?: string;
  messageId: string; // without angle brackets; the same for every attempt
  from: string;
  replyTo?: string;
}

export type Mailer = ReturnType<typeof createMailer>;

/** Without TLS, sends a password only to this machine. With `?requireTLS=false` in the URL, also sends it to other machines. */
export function createMailer(smtpUrl: string, { allowPrivateNetworks = false }: { allowPrivateNetworks?: PrivateNetworks } = {}) {
  const { host, port, secure, auth, requireTLS } = parseSmtpUrl(smtpUrl);
  const guard = guardOf(allowPrivateNetworks);
  const label = `mail server ${host}:${port}`;

  async function openSocket(signal: AbortSignal): Promise<Socket> {
    guard.assertAllowed(host);
    const socket = connect({ host, port, signal, lookup: guard.lookup });
    await once(socket, 'connect');
    socket.on('error', () => {}); // without any listener, an abort would crash the process
    return socket;
  }

  /** Opens a connection and calls `use`. All errors become ConnectorErrors. */
  async function connected(timeoutMs: number, signal: AbortSignal, use: (transport: Transporter) => Promise<unknown>) {
    const timeout = Math.ceil(timeoutMs * 0.9); // A step times out before the deadline, because the error of a step is more exact.
    let connection: Socket | undefined;
    let bodyLeft = false;
    try {
      connection = await openSocket(signal);
      const transport = createTransport({
        connection,
        host,
        port,
        secure,
        auth: auth && { user: auth.username, pass: auth.password },
        requireTLS,
        greetingTimeout: timeout,
        socketTimeout: timeout,
        disableFileAccess: true,
        disableUrlAccess: true,
        // If the connection closes, Nodemailer's error does not say whether the body was sent. This event does.
        logger: {
          info: (event: { tnx?: unknown }) => {
            if (event.tnx === 'message') bodyLeft = true;
          },
        },
      });
      await use(transport);
    } catch (error) {
      connection?.destroy();
      throw failure(error, label, bodyLeft, signal, auth ? secretsOf(auth) : []);
    }
  }

  async function send({ from, to, replyTo, messageId, ...content }: Message, timeoutMs: number, signal: AbortSignal) {
    const message = {
      ...content,
      from: parseEmailAddress(from),
      to: parseEmailAddress(to),
      replyTo: replyTo === undefined ? undefined : parseEmailAddress(replyTo),
      messageId: `<${messageId}>`,
      headers: { 'Auto-Submitted': 'auto-generated' }, // prevents out-of-office replies (RFC 3834)
      signal,
    };
    await connected(timeoutMs, signal, (transport) => transport.sendMail(message));
  }

  return {
    /** @throws ConnectorError; `unknown` if the connection broke between the body and the server's answer. */
    send: (message: Message, { timeoutMs }: Call) => withDeadline(timeoutMs, (signal) => send(message, timeoutMs, signal)),
    /** Connects and signs in, without sending. @returns a description of the server. @throws ConnectorError */
    async check({ timeoutMs }: Call): Promise<string> {
      await withDeadline(timeoutMs, (signal) => connected(timeoutMs, signal, (transport) => transport.verify()));
      return `${label} ${auth ? 'accepts user and password' : 'accepts mail without signing in'}`;
    },
  };
}

function parseSmtpUrl(smtpUrl: string) {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : undefined;
  // For smtp URLs, the class URL does not decode percent-encoded Unicode, and keeps the brackets around IPv6.
  const host = domainToASCII(percentDecoded(url?.hostname ?? '')).replace(/^\[(.*)\]$/, '$1');
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || host === '') {
    throw new ConnectorError(
      'permanent',
      'the SMTP URL cannot be used; it should look like smtp://user:password@mail.example.com:587',
    );
  }
  const port = Number(url.port) || (url.protocol === 'smtps:' ? 465 : 587);
  const auth = authIn(url);
  const requireTLS = auth !== undefined && !isLoopback(host) && url.searchParams.get('requireTLS') !== 'false';
  // `secure`: TLS from the first byte, without STARTTLS.
  return { host, port, secure: url.protocol === 'smtps:' || port === 465, auth, requireTLS };
}

/** Accepts exactly one address, because a list or a line break could add recipients or headers. */
export function parseEmailAddress(text: string): { name: string; address: string } {
  const address = bareAddress(text);
  if (address === undefined) throw new ConnectorError('permanent', `"${excerpt(text)}" is not an e-mail address`);
  const name = text.includes('<') ? text.slice(0, text.indexOf('<')).trim() : '';
  const [, quoted] = /^"(.*)"$/.exec(name) ?? [];
  return { name: quoted?.replace(/\\(.)/g, '$1') ?? name, address };
}

/** Returns user and password in all forms that SMTP uses: plain, AUTH LOGIN and AUTH PLAIN. */
function secretsOf({ username, password }: { username: string; password: string }): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return [username, password, base64(username), base64(password), base64(`\0${username}\0${password}`)];
}

const text = z.string().catch('');
/** Nodemailer's error. `command` is the step: `RCPT TO`, `AUTH PLAIN`, … */
const smtpErrorSchema = z.object({ message: text, code: text, command: text, response: text, responseCode: z.number().catch(0) });

const advice: Record<string, string> = {
  EAUTH: '; check user and password in the SMTP URL',
  ETLS: '; without TLS, the password is not sent, unless the SMTP URL has ?requireTLS=false',
};

/** The kind depends on the server's answer (4yz or 5yz). Without an answer, it depends on whether the body was sent. */
function failure(error: unknown, label: string, bodyLeft: boolean, signal: AbortSignal, secrets: string[]): ConnectorError {
  const { message, code, command, response, responseCode } = smtpErrorSchema.parse(error);
  const failed = (kind: ConnectorError['kind'], words: string, status?: number) =>
    new ConnectorError(kind, `${label}: ${words}`, { status });
  if (responseCode >= 400 && responseCode <= 599) {
    const words = `answered "${excerpt(response, secrets)}" to ${command}${advice[code] ?? ''}`;
    return failed(responseCode >= 500 ? 'permanent' : 'retryable', words, responseCode);
  }
  if (code === 'EAUTH' || (!bodyLeft && (code === 'EENVELOPE' || code === 'EMESSAGE')))
    return failed('permanent', `${excerpt(message, secrets)}${advice[code] ?? ''}`);

  const { kind, message: why } = networkFailure(error, signal);
  if (!bodyLeft) return failed(kind, why);
  return failed('unknown', `${why}; the server got the whole message, but did not confirm it, so it may have been sent`);
}
