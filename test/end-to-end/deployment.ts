/** What `npm run api` and `npm run worker` need: a database, a pretend platform, a mail catcher, and the variables to use them. */

import { randomUUID } from 'node:crypto';
import { startMailCatcher } from '../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { freePort } from '../../src/service/server.js';
import { createDatabase } from '../store/databases.js';

/** @param closing - gets what ends it, last in first out. */
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
      SMTP_URL: mail.smtpUrl,
      PORT: String(port),
    },
  };
}
