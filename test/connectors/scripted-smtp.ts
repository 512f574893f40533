/** A raw SMTP server that follows a script, for failures that a normal server does not produce. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

type Step = 'greeting' | 'EHLO' | 'AUTH' | 'STARTTLS' | 'MAIL' | 'RCPT' | 'DATA' | 'body' | '.';

/**
 * What the server does at a step: it sends this reply, closes or resets the connection, or never answers. At the step `body`, the
 * server has received the first chunk of the body.
 */
export type Script = Partial<Record<Step, string | 'close' | 'reset' | 'hang'>>;

const GOOD: Script = {
  greeting: '220 ready',
  EHLO: '250 hello',
  AUTH: '235 ok',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go',
  '.': '250 queued',
};

/** @returns the port, and every line received */
export async function startScriptedSmtp(script: Script): Promise<{ port: number; lines: string[] }> {
  const steps = { ...GOOD, ...script };
  const lines: string[] = [];
  const sockets = new Set<Socket>();

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let inBody = false;
    let rest = '';
    const act = (step: Step) => {
      const reply = steps[step];
      if (reply === 'close') socket.destroy();
      else if (reply === 'reset') socket.resetAndDestroy();
      else if (reply !== 'hang' && reply !== undefined) socket.write(`${reply}\r\n`);
      inBody = step === 'DATA' && reply?.startsWith('354') === true;
    };
    act('greeting');
    socket.on('data', (chunk) => {
      if (inBody && steps.body !== undefined) return act('body');
      const pieces = (rest + chunk.toString('latin1')).split('\r\n');
      rest = pieces.pop() ?? '';
      for (const line of pieces) {
        lines.push(line);
        if (!inBody) act((line.split(' ')[0] ?? '') as Step);
        else if (line === '.') act('.');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, lines };
}
