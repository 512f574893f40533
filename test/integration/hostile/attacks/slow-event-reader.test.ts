/** A client opens an event stream and does not read it, while the data changes again and again. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { z } from 'zod';
import { eventRoutes } from '../../../../src/api/events.js';
import { appOf, route } from '../../../../src/api/route.js';
import { freePort, serveHttp } from '../../../../src/service/server.js';
import { eventually, Unmet } from '../../../end-to-end/stack.js';

const megabyte = 2 ** 20;
const paths = Array.from({ length: 10 }, (_, n) => `/co/acme/chains?n=${n}`);

describe('an event reader that does not read', () => {
  /** The number of requests for each path. */
  const asked = new Map<string, number>();
  const list = route.company('GET /co/:companyId/chains', 'listChains', '', {
    answers: { 200: ['Each answer differs from the last one, and has 2 MiB.', z.object({})] },
    handle(c) {
      const { pathname, search } = new URL(c.req.url);
      const version = (asked.get(pathname + search) ?? 0) + 1;
      asked.set(pathname + search, version);
      return c.json({ version, text: 'x'.repeat(2 * megabyte) });
    },
  });
  const stop = new AbortController();
  const app = appOf(
    [list, ...eventRoutes((request, env) => app.fetch(request, env), [list], stop.signal)],
    () => async (c, next) => {
      c.set('actor', { kind: 'admin' });
      await next();
    },
  );

  it('gets only the newest answer of each path', async () => {
    const port = await freePort('127.0.0.1');
    const server = await serveHttp(app, { host: '127.0.0.1', port });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    after(async () => {
      socket.destroy();
      stop.abort();
      await server.close();
    });
    socket.pause();
    const query = new URLSearchParams(paths.map((path): [string, string] => ['path', path]));
    socket.write(`GET /co/acme/events?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await eventually('each path to be asked for four times', async () => {
      const versions = paths.map((path) => asked.get(path) ?? 0);
      return versions.every((version) => version >= 4) || new Unmet(versions);
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data.replaceAll(/x+|\r\n[0-9a-f]+\r\n/g, '');
    });
    socket.resume();
    const heard = () =>
      [...text.matchAll(/"path":"([^"]+)","body":\{"version":(\d+)/g)].map(([, path = '', version]) => ({ path, version }));
    await eventually('the newest of each path', async () => {
      const seen = heard();
      return paths.every((path) => seen.some((one) => one.path === path && Number(one.version) >= 4)) || new Unmet(seen);
    });
    const old = heard().filter(({ version }) => Number(version) < 4);
    // When the reader stopped, these answers were already in the socket buffers.
    assert(old.length <= paths.length, `${old.length} older answers were kept for a reader who had not asked for them`);
  });
});
