/** From a company's settings to its connectors. A new kind has a file of its own, a settings schema and one case here. */

import type { Company } from '../contract/company.js';
import { ConnectorError } from './call.js';
import { createHttpClient } from './http.js';
import { createMailer, type Mailer } from './mail.js';
import { createHttpPlatform, createHttpTicketing, type Platform, type Ticketing } from './systems.js';

export interface ConnectorsOptions {
  allowPrivateNetworks: boolean;
  /** The operator's own mail server, which may be on a private network. */
  smtpUrl?: string;
  /** The sender of notices, and of companies that have set none. */
  mailFrom: string;
}

export type Connectors = ReturnType<typeof createConnectors>;

/** What it returns for a company throws a ConnectorError, `permanent`, where the settings for it are missing. */
export function createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom }: ConnectorsOptions) {
  const http = createHttpClient({ allowPrivateNetworks });
  const operatorMailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl, { allowPrivateNetworks: true });

  function platformOf({ companyId, platform }: Company): Platform {
    if (platform) return createHttpPlatform(platform, http);
    return missing(companyId, 'assignment platform', '{"platform": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function ticketingOf({ companyId, ticketing }: Company): Ticketing {
    if (ticketing) return createHttpTicketing(ticketing, http);
    return missing(companyId, 'ticket system', '{"ticketing": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function mailerOf({ companyId, mail }: Company): Mailer {
    if (mail?.smtpUrl !== undefined) return createMailer(mail.smtpUrl, { allowPrivateNetworks });
    if (operatorMailer) return operatorMailer;
    return missing(companyId, 'mail server', '{"mail": {"smtpUrl": "smtp://user:password@mail.example.com:587"}}');
  }

  function senderOf({ mail }: Company): { from: string; replyTo?: string } {
    return { from: mail?.from ?? mailFrom, ...(mail?.replyTo !== undefined && { replyTo: mail.replyTo }) };
  }

  /** By the operator's mail server where there is one, since the company's may be what a notice reports. */
  function noticeMailOf(company: Company): { mailer: Pick<Mailer, 'send'>; from: string } {
    if (operatorMailer) return { mailer: operatorMailer, from: mailFrom };
    // Looked up only now, so that a missing one does not keep a notice from the webhook.
    return { mailer: { send: async (message, call) => mailerOf(company).send(message, call) }, from: senderOf(company).from };
  }

  return { platformOf, ticketingOf, mailerOf, senderOf, noticeMailOf, http, close: http.close };
}

function missing(companyId: string, what: string, settings: string): never {
  throw new ConnectorError(
    'permanent',
    `company ${companyId} has no ${what}; set one with PUT /admin/companies/${companyId} ${settings}`,
  );
}
