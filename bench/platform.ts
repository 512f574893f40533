/**
 * The platform and the mail server that both sides call, as one process. This process answers at once, and remembers when each
 * effect arrived. An effect's id is an assignment's id or the local part of an address, such as `r7.12.a`: run, chain, action.
 * A call about an assignment whose id begins with `hang.` never gets an answer.
 */

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { SMTPServer } from 'smtp-server';
import { now } from './clock.js';

interface Run {
  /** The first arrival of each effect. */
  arrivals: Map<string, { id: string; at: number; key?: string }>;
  /** Effects that arrived again. */
  repeats: number;
}

const runs = new Map<string, Run>();

function runOf(id: string): Run {
  const name = id.split('.')[0] ?? '';
  const run = runs.get(name) ?? { arrivals: new Map(), repeats: 0 };
  runs.set(name, run);
  return run;
}

function arrive(id: string, key?: string): void {
  const run = runOf(id);
  if (run.arrivals.has(id)) run.repeats += 1;
  else run.arrivals.set(id, { id, at: now(), key });
}

function endJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const http = createServer((request, response) => {
  const [, what, id = '', least] = (request.url ?? '').split('/');
  request.resume().once('end', () => {
    if (what === 'arrivals') {
      // The answer to /arrivals/{run}/{least} has an empty list until the run has `least` arrivals.
      const { arrivals, repeats } = runOf(id);
      endJson(response, { count: arrivals.size, repeats, arrivals: arrivals.size < Number(least) ? [] : [...arrivals.values()] });
    } else if (id.startsWith('cause.')) {
      // Each answer has a different reason, so that no two actions share a cause.
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ detail: `no workers in ${id.slice(6)}` }));
    } else if (!id.startsWith('hang.')) {
      arrive(id, request.headers['idempotency-key']?.toString());
      endJson(response, { id, status: 'sent', recipients: 1 });
    }
  });
});
http.keepAliveTimeout = 60_000;

const smtp = new SMTPServer({
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onData(stream, session, done) {
    stream.resume().once('end', () => {
      for (const { address } of session.envelope.rcptTo) arrive(address.split('@')[0] ?? '');
      done(null);
    });
  },
});
smtp.on('error', () => {});

async function listening(server: Server | ReturnType<SMTPServer['listen']>): Promise<string> {
  await once(server, 'listening');
  const address = server.address();
  return `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

process.on('disconnect', () => process.exit());
const platform = await listening(http.listen(0, '127.0.0.1'));
process.send?.({ platformUrl: `http://${platform}`, smtpUrl: `smtp://${await listening(smtp.listen(0, '127.0.0.1'))}` });
