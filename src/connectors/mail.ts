/** E-mail through an SMTP server, one connection for each message, so that it is known for each whether its body had left. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import { createTransport, type Transporter } from 'nodemailer';
import { z } from 'zod';
import { bareAddress } from '../chain/address.js';
import { isLoopback } from '../contract/loopback.js';
import { authIn, type Call, ConnectorError, excerpt, percentDecoded, withDeadline } from './call.js';
import { assertPublicHost, networkFailure, publicLookup } from './network.js';

export interface Message {
  /** One address, display name allowed: `Ada Lovelace <ada@example.com>`. */
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Without angle brackets; the same for every attempt at the same message. */
  messageId: string;
  from: string;
  replyTo?: string;
}

export type Mailer = ReturnType<typeof createMailer>;

/**
 * Without `allowPrivateNetworks`, only public addresses are connected to. A password goes over TLS only, unless the server is on
 * this machine, or the URL asks for plain text: `smtp://user:password@mail.internal:25?requireTLS=false`.
 */
export function createMailer(smtpUrl: string, { allowPrivateNetworks = false }: { allowPrivateNetworks?: boolean } = {}) {
  const { host, port, secure, auth, requireTLS } = parseSmtpUrl(smtpUrl);
  const label = `mail server ${host}:${port}`;

  async function openSocket(signal: AbortSignal): Promise<Socket> {
    if (!allowPrivateNetworks) assertPublicHost(host);
    const socket = connect({ host, port, signal, lookup: allowPrivateNetworks ? undefined : publicLookup });
    await once(socket, 'connect');
    socket.on('error', () => {}); // Nodemailer's listeners come and go: an abort in between must not end the process.
    return socket;
  }

  /** @param use - what is done over a connection of its own; its errors are thrown as ConnectorErrors. */
  async function connected(timeoutMs: number, signal: AbortSignal, use: (transport: Transporter) => Promise<unknown>) {
    const timeout = Math.ceil(timeoutMs * 0.9); // Shorter than the deadline, since the error of a step says more.
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
        // A connection closed before the body and one closed after it give the same error; only this event tells them apart.
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
      headers: { 'Auto-Submitted': 'auto-generated' }, // Keeps out-of-office replies away (RFC 3834).
      signal,
    };
    await connected(timeoutMs, signal, (transport) => transport.sendMail(message));
  }

  return {
    /** @throws ConnectorError; `unknown` when the body had left and the connection broke before the server's answer. */
    send: (message: Message, { timeoutMs }: Call) => withDeadline(timeoutMs, (signal) => send(message, timeoutMs, signal)),
    /** Connects and signs in, and sends nothing. @returns what was seen. @throws ConnectorError */
    async check({ timeoutMs }: Call): Promise<string> {
      await withDeadline(timeoutMs, (signal) => connected(timeoutMs, signal, (transport) => transport.verify()));
      return `${label} ${auth ? 'takes user and password' : 'takes mail without signing in'}`;
    },
  };
}

function parseSmtpUrl(smtpUrl: string) {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : undefined;
  // URL keeps Unicode percent-encoded for this scheme, and IPv6 in brackets.
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
  // `secure`: TLS from the first byte, instead of by STARTTLS where the server offers it.
  return { host, port, secure: url.protocol === 'smtps:' || port === 465, auth, requireTLS };
}

/** Reads exactly one address: a list or a line break is refused, so that no other recipient and no header can be slipped in. */
export function parseEmailAddress(text: string): { name: string; address: string } {
  const address = bareAddress(text);
  if (address === undefined) throw new ConnectorError('permanent', `"${excerpt(text)}" is not an e-mail address`);
  const name = text.includes('<') ? text.slice(0, text.indexOf('<')).trim() : '';
  const [, quoted] = /^"(.*)"$/.exec(name) ?? [];
  return { name: quoted?.replace(/\\(.)/g, '$1') ?? name, address };
}

/** As they are, and as AUTH LOGIN and AUTH PLAIN send them. */
function secretsOf({ username, password }: { username: string; password: string }): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return [username, password, base64(username), base64(password), base64(`\0${username}\0${password}`)];
}

const text = z.string().catch('');
/** An error of nodemailer. `command` is the step: `RCPT TO`, `AUTH PLAIN`, … */
const smtpErrorSchema = z.object({ message: text, code: text, command: text, response: text, responseCode: z.number().catch(0) });

const advice: Record<string, string> = {
  EAUTH: '; check user and password in the SMTP URL',
  ETLS: '; no TLS, without which the password is not sent, unless ?requireTLS=false in the SMTP URL asks for it',
};

/** An answer of the server decides (4yz or 5yz); without one, whether the body had left. */
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
  return failed('unknown', `${why}; the whole message had been handed over, but not confirmed, so it may have been sent`);
}
