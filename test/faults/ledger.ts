/**
 * The platform, the ticket system and the mail server of the fault tests, as one process. It records every effect that reaches
 * it. It shares no code with the relay, because it checks the relay.
 * A target with the ending `gone` does not exist. A target with the ending `flaky` is refused once. `GET /ledger` returns the
 * entries. After `PUT /mail` `{"breaks": true}`, each connection breaks when a message is accepted but not yet acknowledged.
 */

import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** An effect that arrived, even if its answer was lost. */
export interface Entry {
  /** The assignment, the ticket or the address. */
  target: string;
  /** Distinguishes repeats from other effects: `Idempotency-Key`, or the message's `Message-ID`. */
  key: string;
  at: number; // Unix milliseconds
  mail?: { subject: string; broken: boolean };
}

const entries: Entry[] = [];
const refusedOnce = new Set<string>();
let mailBreaks = false;

const http = createHttpServer((request, response) => {
  const { method = '', url = '' } = request;
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const [, kind = '', id = ''] = url.split('/').map(decodeURIComponent);
    if (url === '/ledger') return answer(200, entries);
    if (url === '/mail') {
      mailBreaks = JSON.parse(Buffer.concat(parts).toString()).breaks;
      return answer(200, {});
    }
    if (id.endsWith('gone')) return answer(404, { error: 'there is no such assignment' });
    if (method === 'GET') return answer(200, { id, status: 'draft' });
    if (kind !== 'assignments' && kind !== 'tickets') return answer(404, { error: 'there is no such path' });
    const key = String(request.headers['idempotency-key']);
    if (id.endsWith('flaky') && !refusedOnce.has(key)) {
      refusedOnce.add(key);
      return answer(503, { error: 'not yet' });
    }
    entries.push({ target: id, key, at: Date.now() });
    answer(200, { id, status: 'sent', recipients: 1 });
  });
});
http.keepAliveTimeout = 60_000;

/** The part of SMTP that a client without authentication needs. */
function talk(socket: Socket): void {
  let heard = '';
  let to: string[] = [];
  let message: string[] | undefined;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const took = (lines: string[]) => {
    const header = (name: string) =>
      new RegExp(`^${name}:\\s*(.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(lines.join('\r\n'))?.[1]?.trim() ?? '';
    const mail = { subject: header('Subject'), broken: mailBreaks };
    for (const target of to) entries.push({ target, key: header('Message-ID'), at: Date.now(), mail });
    to = [];
    if (mailBreaks) socket.destroy();
    else say('250 taken');
  };
  const commands: Record<string, (line: string) => void> = {
    EHLO: () => say('250-ledger\r\n250 8BITMIME'),
    RCPT: (line) => {
      to.push(/<(.*)>/.exec(line)?.[1] ?? '');
      say('250 ok');
    },
    DATA: () => {
      message = [];
      say('354 go on');
    },
    QUIT: () => socket.end('221 bye\r\n'),
  };
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
    for (let end = heard.indexOf('\r\n'); end >= 0; end = heard.indexOf('\r\n')) {
      const line = heard.slice(0, end);
      heard = heard.slice(end + 2);
      if (message === undefined) (commands[line.slice(0, 4).toUpperCase()] ?? (() => say('250 ok')))(line);
      else if (line !== '.') message.push(line);
      else {
        took(message);
        message = undefined;
      }
    }
  });
  say('220 ledger ESMTP');
}

const smtp = createTcpServer(talk);
const listening = (server: Server) =>
  new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
process.on('disconnect', () => process.exit());
process.send?.({ http: await listening(http), smtp: await listening(smtp) });
