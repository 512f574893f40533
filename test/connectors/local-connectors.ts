/** Connectors, with an HTTP server and two mail servers on this machine. */

import { after } from 'node:test';
import { type ConnectorsOptions, createConnectors } from '../../src/connectors/connectors.js';
import type { Company } from '../../src/contract/company.js';
import { startHttp } from './local-http.js';
import { startScriptedSmtp } from './scripted-smtp.js';

/** A company without systems. */
export const bare: Company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
/** A company with its own mail server. */
export const own = (port: number): Company => ({ ...bare, mail: { smtpUrl: `smtp://127.0.0.1:${port}` } });

export async function startLocalConnectors() {
  const server = await startHttp();
  const operatorMail = await startScriptedSmtp({});
  const companyMail = await startScriptedSmtp({});
  return {
    server,
    operatorMail,
    companyMail,
    /** New connectors, which close after the test or the file that creates them. */
    connectors(options: Partial<ConnectorsOptions> = {}) {
      const made = createConnectors({
        allowPrivateNetworks: true,
        smtpUrl: `smtp://127.0.0.1:${operatorMail.port}`,
        mailFrom: 'relay@example.org',
        ...options,
      });
      after(() => made.close());
      return made;
    },
  };
}
