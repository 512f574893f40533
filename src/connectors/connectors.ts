/** Creates the connectors of a company from its settings. A new kind needs a line in chain/kinds.ts and a file in kinds/. */

import { hash } from 'node:crypto';
import { platformKinds, ticketingKinds } from '../chain/kinds.js';
import type { Company } from '../contract/company.js';
import type { AddressSection, SetByCompany } from '../contract/notify.js';
import type { PrivateNetworks } from '../service/config.js';
import { createHttpClient, type HttpClient } from './http.js';
import { createMailer, type Mailer } from './mail.js';
import { signingIn, withTokens } from './oauth2.js';
import type { Platform } from './platforms.js';
import { Memory, refused } from './session.js';
import { createHttpPlatform, createHttpTicketing } from './systems.js';
import { createTicketing, type Ticketing, type TicketSystem } from './tickets.js';

export interface ConnectorsOptions {
  /** The private addresses that an admin token may set. Addresses set with a company key must be public. */
  allowPrivateNetworks: PrivateNetworks;
  smtpUrl?: string; // the operator's mail server; it may be in a private network
  mailFrom: string; // the sender of notices, and of e-mails if the company's settings have no sender
}

const ticketSystems = await ofEach<(settings: never) => TicketSystem>(ticketingKinds);
const platforms = await ofEach<(settings: never, http: HttpClient, memory: Memory) => Platform>(platformKinds);

/** Loads the function of each kind: kinds/jira.ts exports `jira`. */
async function ofEach<Create>(kinds: object): Promise<Record<string, Create>> {
  const load = async (kind: string): Promise<[string, Create]> => [kind, (await import(`./kinds/${kind}.js`))[kind]];
  return Object.fromEntries(await Promise.all(Object.keys(kinds).map(load)));
}

/** The relay remembers facts (addresses, access tokens, fields) of at most this number of connections. */
const mostRemembered = 1000;

/** The default address is Google's. The default scope is Microsoft's, because only Microsoft's client credentials need a scope. */
const mailDefaults = { tokenUrl: 'https://oauth2.googleapis.com/token', scope: 'https://outlook.office365.com/.default' };

export type Connectors = ReturnType<typeof createConnectors>;

/** If the company's settings are missing, the functions throw a `permanent` ConnectorError. */
export function createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom }: ConnectorsOptions) {
  const http = createHttpClient({ allowPrivateNetworks });
  const publicHttp = createHttpClient({ allowPrivateNetworks: false });
  const operatorMailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl, { allowPrivateNetworks: true });

  const memories = new Map<string, Memory>();
  /** Changed settings, such as a new password, get a new and empty memory. */
  function memoryOf(settings: object): Memory {
    const key = hash('sha256', JSON.stringify(settings));
    const memory = memories.get(key) ?? new Memory();
    memories.delete(key);
    memories.set(key, memory);
    if (memories.size > mostRemembered) memories.delete(memories.keys().next().value ?? '');
    return memory;
  }

  function httpOf({ setByCompany }: SetByCompany, section: AddressSection): HttpClient {
    return setByCompany?.includes(section) ? publicHttp : http;
  }

  function platformOf(company: Company): Platform {
    const { companyId, platform } = company;
    const http = httpOf(company, 'platform');
    if (platform?.kind === 'http') return createHttpPlatform(platform, signingIn(http, memoryOf));
    const create = platform && platforms[platform.kind];
    if (create) return create(platform as never, http, memoryOf({ companyId, platform }));
    return missing(companyId, 'assignment platform', '{"platform": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function ticketingOf(company: Company): Ticketing {
    const { companyId, ticketing } = company;
    const http = httpOf(company, 'ticketing');
    if (ticketing?.kind === 'http') return createHttpTicketing(ticketing, signingIn(http, memoryOf));
    const system = ticketing && ticketSystems[ticketing.kind]?.(ticketing as never);
    if (system) return createTicketing(system, http, memoryOf({ companyId, ticketing }));
    return missing(companyId, 'ticket system', '{"ticketing": {"kind": "http", "baseUrl": "https://…"}}');
  }

  function mailerOf(company: Company): Mailer {
    const { companyId, mail: { smtpUrl, oauth2 } = {}, setByCompany } = company;
    if (smtpUrl !== undefined) {
      const what = "the company's mail settings";
      const tokens = oauth2 && withTokens({ ...mailDefaults, ...oauth2 }, what, 535, httpOf(company, 'mail'), memoryOf(oauth2));
      const allowed = !setByCompany?.includes('mail') && allowPrivateNetworks;
      return createMailer(smtpUrl, { what, allowPrivateNetworks: allowed, oauth2: tokens && { user: oauth2.user, tokens } });
    }
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
  /** Sends mails of the relay itself, such as links to sign in. A company's own mail server never gets such mails. */
  const operatorMail = operatorMailer && { mailer: operatorMailer, from: mailFrom };
  return { platformOf, ticketingOf, mailerOf, senderOf, noticeMailOf, operatorMail, httpOf, close };
}

function missing(companyId: string, what: string, settings: string): never {
  throw refused(
    `company ${companyId} has no ${what}; set one with PUT /admin/companies/${companyId} ${settings}`,
    `No ${what} is connected`,
    `Connect one in the company's settings, then retry`,
  );
}
