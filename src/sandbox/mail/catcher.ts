/** The mail catcher: takes every e-mail over SMTP, delivers none, and shows them in an inbox in the browser. */

import { Hono } from 'hono';
import { serveHttp } from '../../service/server.js';
import { Fault, faultRoutes } from '../fault.js';
import { pageAssets } from '../page.js';
import { inboxPage } from './inbox-page.js';
import { Mailbox } from './mailbox.js';
import { messageApi } from './message-api.js';
import { type MailFailure, mailFailureSchema, receiveMail } from './smtp.js';

/**
 * @param options.smtpPort and `uiPort`: 0 takes any free one
 * @param options.directory messages are kept here and survive a restart; without it, they are forgotten
 * @throws StartError when a port is taken
 */
export async function startMailCatcher(options: { host: string; smtpPort: number; uiPort: number; directory?: string }): Promise<{
  smtpUrl: string;
  uiUrl: string;
  close(): Promise<void>;
}> {
  const { host, smtpPort, uiPort } = options;
  const mailbox = await Mailbox.open(options.directory);
  const fault = new Fault<MailFailure>();
  const app = new Hono()
    .route('/', pageAssets())
    .route('/', faultRoutes(fault, mailFailureSchema))
    .route('/', messageApi(mailbox))
    .route('/', inboxPage(mailbox, fault));
  const smtp = await receiveMail(mailbox, fault, { host, port: smtpPort });
  try {
    const ui = await serveHttp(app, { host, port: uiPort, variable: 'RELAY_MAIL_UI_PORT', graceMs: 0 });
    return {
      smtpUrl: smtp.url,
      uiUrl: ui.url,
      async close() {
        await Promise.all([smtp.close(), ui.close()]);
      },
    };
  } catch (error) {
    await smtp.close();
    throw error;
  }
}
