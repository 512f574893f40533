/** Creates the connectors of a company from its settings. A new kind of system needs a file, a settings schema and a case here. */

import type { Company } from '../contract/company.js';
import type { AddressSection, SetByCompany } from '../contract/notify.js';
import type { PrivateNetworks } from '../service/config.js';
import { ConnectorError } from './call.js';
import { createHttpClient, type HttpClient } from './http.js';
import { createMailer, type Mailer } from './mail.js';
import { createHttpPlatform, createHttpTicketing, type Platform, type Ticketing } from './systems.js';

export interface ConnectorsOptions {
  /** The private addresses that an admin token may set. Addresses set with a company key must be public. */
  allowPrivateNetworks: PrivateNetworks;
  smtpUrl?: string; // the operator's mail server; it may be in a private network
  mailFrom: string; // the sender of notices, and of e-mails of companies that have no sender of their own
}

export type Connectors = ReturnType<typeof createConnectors>;

/** If the company's settings are missing, the functions throw a `permanent` ConnectorError. */
export function createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom }: ConnectorsOptions) {
  const http = createHttpClient({ allowPrivateNetworks });
  const publicHttp = createHttpClient({ allowPrivateNetworks: false });
  const operatorMailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl, { allowPrivateNetworks: true });

  function httpOf({ setByCompany }: SetByCompany, section: AddressSection): HttpClient {
    return setByCompany?.includes(section) ? publicHttp : http;
  }

  function platformOf(company: Company): Platform {
    const { companyId, platform } = company;
    if (platform) return createHttpPlatform(platform, httpOf(company, 'platform'));
    return missing(companyId, 'assignment platform', '{"platform": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function ticketingOf(company: Company): Ticketing {
    const { companyId, ticketing } = company;
    if (ticketing) return createHttpTicketing(ticketing, httpOf(company, 'ticketing'));
    return missing(companyId, 'ticket system', '{"ticketing": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function mailerOf({ companyId, mail, setByCompany }: Company): Mailer {
    if (mail?.smtpUrl !== undefined)
      return createMailer(mail.smtpUrl, { allowPrivateNetworks: !setByCompany?.includes('mail') && allowPrivateNetworks });
    if (operatorMailer) return operatorMailer;
    return missing(companyId, 'mail server', '{"mail": {"smtpUrl": "smtp://user:password@mail.example.com:587"}}');
  }

  function senderOf({ mail }: Company): { from: string; replyTo?: string } {
    return { from: mail?.from ?? mailFrom, ...(mail?.replyTo !== undefined && { replyTo: mail.replyTo }) };
  }

  /** Uses the operator's mail server if there is one, because the company's own server may be the reason for the notice. */
  function noticeMailOf(company: Company): { mailer: Pick<Mailer, 'send'>; from: string } {
    if (operatorMailer) return { mailer: operatorMailer, from: mailFrom };
    // Look for the mail server only when an e-mail is sent. Without a mail server, notices to a webhook must still work.
    return { mailer: { send: async (message, call) => mailerOf(company).send(message, call) }, from: senderOf(company).from };
  }

  const close = () => Promise.all([http.close(), publicHttp.close()]);
  return { platformOf, ticketingOf, mailerOf, senderOf, noticeMailOf, httpOf, close };
}

function missing(companyId: string, what: string, settings: string): never {
  throw new ConnectorError(
    'permanent',
    `company ${companyId} has no ${what}; set one with PUT /admin/companies/${companyId} ${settings}`,
  );
}
