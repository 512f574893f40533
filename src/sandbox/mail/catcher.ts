/** The mail sink: takes every e-mail over SMTP, delivers none, and shows them in an inbox in the browser. */

import { Hono } from 'hono';
import { refuseForeignPages, serveHttp } from '../http-server.js';
import { pageAssets } from '../page.js';
import { inboxPage } from './inbox-page.js';
import { Mailbox } from './mailbox.js';
import { mailpitApi } from './mailpit-api.js';
import { MailTrouble, receiveMail } from './smtp.js';

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
  const { host } = options;
  const mailbox = await Mailbox.open(options.directory);
  const trouble = new MailTrouble();
  const app = new Hono()
    .use(refuseForeignPages)
    .route('/', mailpitApi(mailbox, trouble))
    .route('/', inboxPage(mailbox, trouble))
    .route('/', pageAssets());
  const smtp = await receiveMail(mailbox, trouble, { host, port: options.smtpPort });
  try {
    const ui = await serveHttp(app.fetch, { host, port: options.uiPort, variable: 'RELAY_MAIL_UI_PORT' });
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
