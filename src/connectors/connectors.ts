/** From a company's settings to its connectors. A new kind has a file of its own, a settings schema and one line here. */

import type { Company, PlatformSettings, TicketingSettings } from '../contract/company.js';
import { ConnectorError } from './call.js';
import { createHttpClient, type HttpClient } from './http.js';
import type { Mailer } from './mail/mail.js';
import { createMailer } from './mail/smtp.js';
import { createHttpPlatform } from './platform/http.js';
import type { Platform } from './platform/platform.js';
import { createHttpTicketing } from './ticketing/http.js';
import type { Ticketing } from './ticketing/ticketing.js';

function platformOfKind(settings: PlatformSettings, http: HttpClient): Platform {
  switch (settings.kind) {
    case 'http':
      return createHttpPlatform(settings, http);
  }
}

function ticketingOfKind(settings: TicketingSettings, http: HttpClient): Ticketing {
  switch (settings.kind) {
    case 'http':
      return createHttpTicketing(settings, http);
  }
}

export interface Connectors {
  /** @throws ConnectorError `permanent` if the company has no platform settings */
  platformOf(company: Company): Platform;
  /** @throws ConnectorError `permanent` if the company has no ticketing settings */
  ticketingOf(company: Company): Ticketing;
  /**
   * The company's own mail server or else the operator's.
   * @throws ConnectorError `permanent` if there is neither
   */
  mailerOf(company: Company): Mailer;
  /** Whom the company's e-mails are from and where answers go, ready for a Message. */
  senderOf(company: Company): { from: string; replyTo?: string };
  /** How notices are mailed: by the operator's mail server where there is one, since the company's may be what they report. */
  noticeMailOf(company: Company): { mailer: Mailer; from: string };
  /** For webhooks, with the same guard as the connectors. */
  http: HttpClient;
  /** Closes all connections; calls under way fail. */
  close(): Promise<void>;
}

export interface ConnectorsOptions {
  allowPrivateNetworks: boolean;
  /** The operator's own mail server, which may be on a private network. */
  smtpUrl?: string;
  /** The sender of notices, and of companies that have set none. */
  mailFrom: string;
}

export function createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom }: ConnectorsOptions): Connectors {
  const http = createHttpClient({ allowPrivateNetworks });
  const operatorMailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl, { allowPrivateNetworks: true });

  function mailerOf({ companyId, mail }: Company): Mailer {
    if (mail?.smtpUrl !== undefined) return createMailer(mail.smtpUrl, { allowPrivateNetworks });
    return (
      operatorMailer ?? missing(companyId, 'mail server', '{"mail": {"smtpUrl": "smtp://user:password@mail.example.com:587"}}')
    );
  }

  function senderOf({ mail }: Company): { from: string; replyTo?: string } {
    return { from: mail?.from ?? mailFrom, ...(mail?.replyTo !== undefined && { replyTo: mail.replyTo }) };
  }

  return {
    platformOf: ({ companyId, platform }) =>
      platform
        ? platformOfKind(platform, http)
        : missing(companyId, 'assignment platform', '{"platform": {"kind": "http", "baseUrl": "https://…"}}'),
    ticketingOf: ({ companyId, ticketing }) =>
      ticketing
        ? ticketingOfKind(ticketing, http)
        : missing(companyId, 'ticket system', '{"ticketing": {"kind": "http", "baseUrl": "https://…"}}'),
    mailerOf,
    senderOf,
    noticeMailOf(company) {
      if (operatorMailer) return { mailer: operatorMailer, from: mailFrom };
      // The company's is looked up when it is needed, so that a missing one does not keep a notice from the webhook.
      return { mailer: { send: async (message, call) => mailerOf(company).send(message, call) }, from: senderOf(company).from };
    },
    http,
    close: () => http.close(),
  };
}

function missing(companyId: string, what: string, settings: string): never {
  throw new ConnectorError(
    'permanent',
    `company ${companyId} has no ${what}; set one with PUT /admin/companies/${companyId} ${settings}`,
  );
}
