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
import type { WithToken } from './oauth2.js';
import { refused } from './session.js';
import { type Meaning, wordsOf } from './words.js';

export interface Message {
  to: string; // one address, optionally with a display name: `Ada Lovelace <ada@example.com>`
  subject: string;
  text: string;
  html?: string;
  messageId: string; // without angle brackets; the same for every attempt
  from: string;
  replyTo?: string;
}

interface MailerOptions {
  allowPrivateNetworks?: PrivateNetworks;
  oauth2?: { user: string; tokens: WithToken } | undefined;
  what?: string; // the place of the settings, for advice in errors
}
export type Mailer = ReturnType<typeof createMailer>;

/** Without TLS, sends a password or token only to this machine. With `?requireTLS=false` in the URL, also to other machines. */
export function createMailer(smtpUrl: string, { allowPrivateNetworks = false, oauth2, what }: MailerOptions = {}) {
  const { host, port, secure, auth, requireTLS } = parseSmtpUrl(smtpUrl, oauth2 !== undefined);
  const guard = guardOf(allowPrivateNetworks);
  const label = `mail server ${host}:${port}`;

  async function openSocket(signal: AbortSignal): Promise<Socket> {
    guard.assertAllowed(host);
    const socket = connect({ host, port, signal, lookup: guard.lookup });
    await once(socket, 'connect');
    socket.on('error', () => {}); // Without a listener, an abort would crash the process.
    return socket;
  }

  /** Opens a connection and calls `use`. If the server refuses an OAuth2 token, tries once more with a new token. Throws ConnectorErrors. */
  function connected(timeoutMs: number, use: Use): Promise<void> {
    const run = (ms: number, signIn: SignIn) => withDeadline(ms, (signal) => connectedOnce(signIn, ms, signal, use));
    if (!oauth2) return run(timeoutMs, auth && { user: auth.username, pass: auth.password });
    const { user, tokens } = oauth2;
    return tokens(timeoutMs, (accessToken, leftMs) => run(leftMs, { type: 'OAuth2', user, accessToken }));
  }

  async function connectedOnce(signIn: SignIn, timeoutMs: number, signal: AbortSignal, use: Use) {
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
        auth: signIn,
        requireTLS,
        greetingTimeout: timeout,
        socketTimeout: timeout,
        disableFileAccess: true,
        disableUrlAccess: true,
        // This event shows that the body was sent. Nodemailer's error after a closed connection does not show this.
        logger: {
          info: (event: { tnx?: unknown }) => {
            if (event.tnx === 'message') bodyLeft = true;
          },
        },
      });
      await use(transport, signal);
    } catch (error) {
      connection?.destroy();
      throw failure(error, { label, what }, bodyLeft, signal, signIn ? secretsOf(signIn) : []);
    }
  }

  async function send({ from, to, replyTo, messageId, ...content }: Message, { timeoutMs }: Call) {
    const message = {
      ...content,
      from: parseEmailAddress(from),
      to: parseEmailAddress(to),
      replyTo: replyTo === undefined ? undefined : parseEmailAddress(replyTo),
      messageId: `<${messageId}>`,
      headers: { 'Auto-Submitted': 'auto-generated' }, // prevents out-of-office replies (RFC 3834)
    };
    await connected(timeoutMs, (transport, signal) => transport.sendMail({ ...message, signal }));
  }

  return {
    severalCalls: false,
    /** @throws ConnectorError; `unknown` if the connection broke between the body and the server's answer. */
    send,
    /** Connects and signs in, without sending. @returns a description of the server. @throws ConnectorError */
    async check({ timeoutMs }: Call): Promise<string> {
      await connected(timeoutMs, (transport) => transport.verify());
      const accepts = oauth2 ? 'the access token' : auth ? 'user and password' : 'mail without user and password';
      return `${label} accepts ${accepts}`;
    },
  };
}

type Use = (transport: Transporter, signal: AbortSignal) => Promise<unknown>;
type SignIn = { type?: 'OAuth2'; user: string; pass?: string; accessToken?: string } | undefined;

function parseSmtpUrl(smtpUrl: string, hasToken: boolean) {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : undefined;
  // For smtp URLs, the class URL does not decode percent-encoded Unicode, and keeps the brackets around IPv6.
  const host = domainToASCII(percentDecoded(url?.hostname ?? '')).replace(/^\[(.*)\]$/, '$1');
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || host === '')
    throw refused(
      'the SMTP URL cannot be used; it should look like smtp://user:password@mail.example.com:587',
      'The address of the mail server is invalid',
      'Change the SMTP URL, then retry',
    );
  const port = Number(url.port) || (url.protocol === 'smtps:' ? 465 : 587);
  const auth = authIn(url);
  const requireTLS = (hasToken || auth !== undefined) && !isLoopback(host) && url.searchParams.get('requireTLS') !== 'false';
  // `secure` means TLS from the first byte, without STARTTLS.
  return { host, port, secure: url.protocol === 'smtps:' || port === 465, auth, requireTLS };
}

/** Accepts exactly one address, because a list or a line break could add recipients or headers. */
export function parseEmailAddress(text: string): { name: string; address: string } {
  const address = bareAddress(text);
  const wrong = `"${excerpt(text)}" is not an e-mail address`;
  if (address === undefined) throw refused(wrong, wrong, 'Change the address, then retry');
  const name = text.includes('<') ? text.slice(0, text.indexOf('<')).trim() : '';
  const [, quoted] = /^"(.*)"$/.exec(name) ?? [];
  return { name: quoted?.replace(/\\(.)/g, '$1') ?? name, address };
}

/** Returns user, password and token in all forms that SMTP uses: plain, AUTH LOGIN, AUTH PLAIN and AUTH XOAUTH2. */
function secretsOf({ user, pass, accessToken: token }: NonNullable<SignIn>): string[] {
  const sent = [user, pass ?? '', token ?? '', `\0${user}\0${pass}`, `user=${user}\x01auth=Bearer ${token}\x01\x01`];
  return [...sent, ...sent.map((text) => Buffer.from(text).toString('base64'))];
}

const text = z.string().catch('');
/** Nodemailer's error. `command` is the step: `RCPT TO`, `AUTH PLAIN`, … */
const smtpErrorSchema = z.object({ message: text, code: text, command: text, response: text, responseCode: z.number().catch(0) });

const advice: Record<string, string> = {
  EAUTH: '; check user and password in the SMTP URL',
  'AUTH XOAUTH2': '; check oauth2 in the mail settings, and whether the user may send through SMTP',
  ETLS: '; the relay sends the password only with TLS. To send it without TLS, add ?requireTLS=false to the SMTP URL',
};

type Whose = { label: string; what: string | undefined };

/** The error's kind depends on the server's answer (4yz or 5yz). Without an answer, it depends on whether the body was sent. */
function failure(error: unknown, whose: Whose, bodyLeft: boolean, signal: AbortSignal, secrets: string[]): ConnectorError {
  const { label, what = 'the mail settings of the relay' } = whose;
  const { message, code, command, response, responseCode } = smtpErrorSchema.parse(error);
  const about = command === 'RCPT TO' ? 'the recipient' : 'the e-mail';
  const failed = (kind: ConnectorError['kind'], as: Meaning, said: string, status?: number) =>
    new ConnectorError(kind, `${label}: ${said}`, { status, ...wordsOf(as, `the ${label}`, about, what) });
  if (responseCode >= 400 && responseCode <= 599) {
    const said = `answered "${excerpt(response, secrets)}" to ${command}${advice[command] ?? advice[code] ?? ''}`;
    if (responseCode < 500) return failed('retryable', 'temporary', said, responseCode);
    return failed('permanent', command.startsWith('AUTH') ? 'credentials' : 'refused', said, responseCode);
  }
  if (code === 'EAUTH' || (!bodyLeft && (code === 'EENVELOPE' || code === 'EMESSAGE')))
    return failed('permanent', code === 'EAUTH' ? 'credentials' : 'refused', `${excerpt(message, secrets)}${advice[code] ?? ''}`);

  const { kind, message: why } = networkFailure(error, signal);
  if (!bodyLeft) return failed(kind, kind === 'permanent' || code === 'ETLS' ? 'uncalled' : 'silent', why);
  const perhaps = `${why}; the server got the whole message, but did not confirm it, so the e-mail may have been sent`;
  return failed('unknown', 'unconfirmed', perhaps);
}
