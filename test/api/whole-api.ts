/** The whole API on a socket, with its own database and without Temporal. */

import { Client, Connection } from '@temporalio/client';
import { createApi } from '../../src/api/app.js';
import { Limits } from '../../src/api/limits.js';
import type { ApiOptions } from '../../src/api/route.js';
import { createConnectors } from '../../src/connectors/connectors.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';
import { createStore } from '../../src/store/store.js';
import { serve } from '../cli/local-api.js';
import { openEmptied } from '../store/emptied.js';

export const adminToken = 'the-admin-token';

export async function wholeApi(more: Partial<ApiOptions> = {}) {
  const lines: string[] = [];
  const database = await openEmptied();
  const store = createStore(database, {
    ...(more.keyring && { keyring: more.keyring }),
    ...(more.secret && { secret: more.secret }),
  });
  const connectors = createConnectors({ allowPrivateNetworks: false, mailFrom: 'relay@relay.example' });
  const log = createLog('info', { write: (line) => lines.push(line) });
  const options: ApiOptions = {
    store,
    connectors,
    log,
    client: new Client({ connection: Connection.lazy({ address: '127.0.0.1:1', interceptors: [] }) }),
    metrics: new Metrics(),
    limits: new Limits({ perMinute: 600, log }),
    adminToken,
    links: { api: 'http://127.0.0.1' },
    taskQueue: 'relay',
    eager: false,
    retryBudgetSeconds: 1,
    attentionWindowSeconds: 1,
    ...more,
  };
  const api = await serve(createApi(options));
  return {
    ...options,
    url: api.url,
    database,
    /** The lines of the log. */
    logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
    async ask(method: string, path: string, bearer?: string, body?: unknown) {
      const response = await fetch(api.url + path, {
        method,
        headers: { ...(bearer && { Authorization: `Bearer ${bearer}` }), 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of the answers.
      const json: any = /json/.test(response.headers.get('Content-Type') ?? '') ? JSON.parse(text) : undefined;
      return { status: response.status, json, text };
    },
    async close() {
      await Promise.all([api.close(), connectors.close()]);
      await store.close();
    },
  };
}
