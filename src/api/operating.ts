/** Pauses, test notices, checks of settings, encryption and the audit log. */

import { z } from 'zod';
import { trialTimeoutMs } from '../contract/activities.js';
import { auditResponse, type Caller } from '../contract/audit.js';
import {
  checkRequest,
  checkResponse,
  endedPausesResponse,
  pausableSchema,
  pauseRequest,
  pausesResponse,
} from '../contract/company.js';
import { encryptionProgressSchema, encryptionStatusSchema } from '../contract/encryption.js';
import { noticeTestRequest, noticeTestResponse } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { sendTest } from '../notices/start.js';
import { Shares } from '../service/shares.js';
import type { Store } from '../store/store.js';
import { checkSettings } from '../temporal/check-settings.js';
import { resumeChains } from '../temporal/steer.js';
import { numberCursor, pageQuery } from './input.js';
import { found, foundRule, notFound } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** Test notices have a limit, because each test sends a notice from the operator's address to every contact. */
const testsAtOnce = 10; // all keys of a company share this number; every `testEveryMs` milliseconds, one more test is allowed
const testEveryMs = 360_000;
/** Checks have a limit, because a worker calls all systems of the company for each check. */
const checksAtOnce = 20; // all keys of a company share this number; every `checkEveryMs` milliseconds, one more check is allowed
const checkEveryMs = 10_000;

export function operatingRoutes({ store, client, taskQueue, log }: ApiOptions): Route[] {
  const current = async (companyId: string): Promise<z.infer<typeof pausesResponse>> => {
    found(await store.companies.get(companyId), `company ${companyId}`);
    return { pauses: await store.pauses.current(companyId) };
  };
  const tests = new Shares(testsAtOnce, testEveryMs);
  const checks = new Shares(checksAtOnce, checkEveryMs);
  /** Limits the tests and checks that keys of a company request. @throws Problem rate-limited */
  const count = (actor: Caller, shares: Shares, companyId: string, bound: 'test-notices' | 'checks', detail: string) => {
    if (actor.kind !== 'key' || shares.take(companyId)) return;
    const headers = { 'Retry-After': String(Math.ceil(shares.wait(companyId) / 1000)) };
    throw new Problem('rate-limited', detail, { headers, bound });
  };
  /** @throws Problem temporal-unavailable if no worker answers in time */
  const inTime = async <Result>(companyId: string, trial: () => Promise<Result>): Promise<Result> => {
    try {
      return await trial();
    } catch (error) {
      log.error({ err: error, companyId }, 'a test or check did not end in time');
      const detail = `There was no result within ${trialTimeoutMs / 1000} seconds`;
      throw new Problem(
        'temporal-unavailable',
        `${detail}. If this happens again, tell the operator: Temporal or the worker process may not be running.`,
      );
    }
  };
  return [
    route.manager('GET /admin/companies/:companyId/pause', 'getPauses', 'Read the pauses of a company', {
      answers: { 200: ['The current pauses.', pausesResponse] },
      handle: async (c, { companyId }) => c.json(await current(companyId)),
    }),
    route.manager('PUT /admin/companies/:companyId/pause', 'pauseCompany', 'Pause a company or one of its connectors', {
      description:
        'Use pauses for planned downtime. Actions that need the paused system wait as `pending`, and continue in order later. ' +
        'Waiting does not count as an attempt, and does not shorten the time for retries. The contacts of a rule with waiting actions get one notice.',
      body: pauseRequest,
      answers: { 200: ['The current pauses.', pausesResponse] },
      async handle(c, { companyId, actor, body: { what, reason, until } }) {
        const pause = { what, ...(reason && { reason }), ...(until && { until: new Date(until).toISOString() }) };
        found(await store.pauses.begin(companyId, pause, actor), `company ${companyId}`);
        return c.json(await current(companyId));
      },
    }),
    route.manager('DELETE /admin/companies/:companyId/pause', 'endPause', 'End a pause', {
      description:
        'If delayed actions of a chain were due during the pause, the first one runs when the pause ends. The other actions follow at their ' +
        'original intervals.',
      query: z.object({
        what: pausableSchema.optional().describe('The pause to end. Default: all pauses.'),
        overdue: z.literal('now').optional().describe('With `now`, all overdue actions run immediately.'),
      }),
      answers: { 200: ['The ended pauses.', endedPausesResponse] },
      async handle(c, { companyId, actor, query: { what, overdue } }) {
        const ended = found(await store.pauses.end(companyId, what, actor), `company ${companyId}`);
        if (ended.length === 0) throw notFound(`pause ${what === undefined ? '' : `"${what}" `}of company ${companyId}`);
        // Do not wait for the signals. If a signal does not reach a chain, the chain still checks the pause within minutes.
        const missed =
          'chains that wait for the end of a pause could not be signalled; they check the pause again within minutes';
        void resumeChains(client, companyId, overdue).catch((err: unknown) => log.warn({ err, companyId }, missed));
        return c.json({ ended });
      },
    }),
    route.manager('POST /admin/companies/:companyId/notices/test', 'testNotices', 'Send a test notice to every contact', {
      description:
        'Sends the test notice once, in the same way as real notices. The answer has the result for each contact, and the reason if a ' +
        'contact did not get the notice.',
      body: noticeTestRequest,
      answers: { 200: ['The result for each contact.', noticeTestResponse] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, actor, body: { relayId } }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        const tested = `The keys of company ${companyId} have sent ${testsAtOnce} test notices within an hour. Nothing was sent now.`;
        count(actor, tests, companyId, 'test-notices', tested);
        if (relayId !== undefined) foundRule(await store.rules.get(companyId, relayId), companyId, relayId);
        await store.audit.record({ actor, action: 'notices.test', companyId, details: { relayId } });
        return c.json({ contacts: await inTime(companyId, () => sendTest(client, taskQueue, companyId, relayId)) });
      },
    }),
    route.manager('POST /admin/companies/:companyId/check', 'checkCompany', 'Check whether the settings of a company work', {
      description:
        'A worker checks whether the platform, the ticket system and the mail server answer and accept the credentials. The ' +
        'worker also counts the contacts of the company, and reads the given assignment and ticket. The worker searches for ' +
        'the groups and fields in the request and in the published rules. The check sends no message and changes nothing.',
      body: checkRequest,
      answers: { 200: ['The result for each system.', checkResponse] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, actor, body }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        const often = `The keys of company ${companyId} can check its settings only once in ${checkEveryMs / 1000} seconds.`;
        count(actor, checks, companyId, 'checks', often);
        const looked = () => checkSettings(client, taskQueue, { companyId, ...body });
        return c.json({ checked: await inTime(companyId, looked) });
      },
    }),
  ];
}

const rotatedAtOnce = 200; // one request encrypts at most this number of rows, so that the request takes only seconds

export function encryptionRoutes({ encryption }: Store): Route[] {
  return [
    route.admin('GET /admin/encryption', 'getEncryption', 'Read how many rows are encrypted with each key', {
      answers: { 200: ['The ids of the keys, and the number of rows for each key.', encryptionStatusSchema] },
      handle: async (c) => c.json(await encryption.status()),
    }),
    route.admin('POST /admin/encryption/rotate', 'rotateEncryption', 'Encrypt the database with the current key', {
      description: `Encrypts at most ${rotatedAtOnce} rows. Repeat the request until \`left\` or \`rotated\` is 0.`,
      answers: { 200: ['The number of encrypted rows, and the number of rows that are left.', encryptionProgressSchema] },
      handle: async (c, { actor }) => c.json(await encryption.rotate(rotatedAtOnce, actor)),
    }),
  ];
}

export function auditRoutes({ audit, companies }: Store): Route[] {
  const query = pageQuery(numberCursor);
  const list = async (request: z.infer<typeof query> & { companyId?: string }) => {
    const { items, nextCursor } = await audit.list(request);
    return auditResponse.parse({ entries: items, nextCursor });
  };
  return [
    route.admin('GET /admin/audit', 'listAudit', 'List all changes and decisions', {
      query: query.extend({ companyId: z.string().optional().describe('Only entries of this company.') }),
      answers: { 200: ['The entries, the newest first.', auditResponse] },
      handle: async (c, { query }) => c.json(await list(query)),
    }),
    route.manager('GET /admin/companies/:companyId/audit', 'listCompanyAudit', 'List the changes and decisions of a company', {
      query,
      answers: { 200: ['The entries, the newest first.', auditResponse] },
      async handle(c, { companyId, query }) {
        found(await companies.get(companyId), `company ${companyId}`);
        return c.json(await list({ ...query, companyId }));
      },
    }),
  ];
}
