/**
 * The parts that `npm run api` and `npm run worker` need: a database, a demo platform, a mail catcher and environment
 * variables.
 */

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { startMailCatcher } from '../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { freePort } from '../../src/service/server.js';
import { createDatabase } from '../store/databases.js';

/** The variables that the API and the worker need to start. */
export const secrets = () => ({
  RELAY_SECRET: randomUUID(),
  RELAY_ENCRYPTION_KEYS: `tests:${randomBytes(32).toString('base64')}`,
});

/** @returns a function that makes a request, asserts a 2xx status, and returns the answer's JSON */
export function callsTo(url: string, token: string) {
  return async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const text = await response.text();
    assert(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
}

/** @param closing - receives the functions that stop the deployment; the last function must run first */
export async function deployment(closing: (() => unknown)[], temporalAddress: string) {
  const database = await createDatabase();
  closing.push(() => database.drop());
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  closing.push(() => platform.close());
  const mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  closing.push(() => mail.close());
  const adminToken = randomUUID();
  const port = await freePort('127.0.0.1');
  return {
    database,
    platform,
    mail,
    adminToken,
    url: `http://127.0.0.1:${port}`,
    env: {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress,
      RELAY_TASK_QUEUE: randomUUID(),
      RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
      RELAY_ADMIN_TOKEN: adminToken,
      ...secrets(),
      SMTP_URL: mail.smtpUrl,
      PORT: String(port),
    },
  };
}
