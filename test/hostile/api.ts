/** The API over a socket, with a store. A fake replaces Temporal: the fake accepts every chain, and forgets it. */

import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { createApi } from '../../src/api/app.js';
import { Limits, type Use } from '../../src/api/limits.js';
import type { ApiOptions } from '../../src/api/route.js';
import { createConnectors } from '../../src/connectors/connectors.js';
import type { OpenId } from '../../src/connectors/openid.js';
import type { CompanyLimits } from '../../src/contract/company.js';
import { freePort, serveHttp } from '../../src/service/server.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';
import type { Database } from '../../src/store/database.js';
import { createStore } from '../../src/store/store.js';

export const adminToken = 'admin-token-of-the-tests';
const actor = { kind: 'admin' } as const;

export const forgetful = {
  options: { namespace: 'default' },
  withDeadline: <T>(_deadline: number, work: () => T) => work(),
  workflow: {
    start: async () => ({}),
    signalWithStart: async () => ({}),
    count: async () => ({ count: 0, groups: [] }),
    async *list() {},
    getHandle: (id: string) => ({
      async describe() {
        throw new WorkflowNotFoundError('not found', id, undefined);
      },
    }),
  },
  workflowService: {
    describeNamespace: async () => ({}),
    listWorkflowExecutions: async () => ({ executions: [], nextPageToken: new Uint8Array() }),
  },
} as unknown as Client;

export type HostileApi = Awaited<ReturnType<typeof serveApi>>;

/** These limits refuse nothing. They are for tests that check only the input. */
const endless = { actionsPerDay: 1e9, recipientsPerDay: 1e9, openChains: 1e9 };

export const endlessUses = { lists: 1e9, reads: 1e9, streams: 1e9, steering: 1e9, 'sign-ins': 1e9 };

interface ServedOptions {
  limits?: CompanyLimits;
  /** Per minute and key. */
  uses?: Record<Use, number>;
  /** The operator's mail server, and the OpenID service, if people sign in. */
  smtpUrl?: string;
  openId?: OpenId;
  simulators?: ApiOptions['simulators']; // with simulators, systems may have private addresses, as under `npm start`
  workflow?: Partial<Record<'start' | 'count', (...args: never[]) => Promise<object>>>; // replaces the fake's behaviour
}

/** Serves the API with one company `acme`, which has a rule and a key. */
export async function serveApi(
  database: Database,
  { limits: ofCompany = endless, uses, workflow, smtpUrl, openId, simulators }: ServedOptions = {},
) {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const store = createStore(database);
  const connectors = createConnectors({
    allowPrivateNetworks: simulators !== undefined,
    mailFrom: 'relay@relay.example',
    smtpUrl,
  });
  const port = await freePort('127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const limits = new Limits({ perMinute: 1e9, uses, log });
  const client = { ...forgetful, workflow: { ...forgetful.workflow, ...workflow } } as Client;
  const common = {
    openId,
    simulators,
    store,
    connectors,
    log,
    limits,
    adminToken,
    links: { api: url },
    client,
    metrics: new Metrics(),
  };
  const times = { retryBudgetSeconds: 1, attentionWindowSeconds: 1 };
  const api = createApi({ ...common, ...times, operatorEmail: 'o@x.example', taskQueue: 'relay', eager: false });
  const server = await serveHttp(api, { host: '127.0.0.1', port });
  const companyId = 'acme';
  await store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC', limits: ofCompany }), actor);
  const rule = await store.rules.create(companyId, { name: 'Rule', onFailure: 'hold', onUnknown: 'resend' }, actor);
  const key = await store.keys.create(companyId, 'key', actor);
  if (typeof rule !== 'object' || typeof key !== 'object') throw new Error('there is no rule, or no key');
  return {
    url,
    port,
    companyId,
    relayId: rule.rule.relayId,
    relayAccessToken: rule.relayAccessToken,
    key: key.key,
    store,
    /** Logged warnings and errors. */
    lines,
    async close() {
      await server.close();
      await connectors.close();
      await store.close();
    },
  };
}
