/** What the operator does for a company in its daily life: planned downtime, trying out its notices, seeing who did what. */

import { z } from 'zod';
import { trialTimeoutMs } from '../contract/activities.js';
import { auditResponse } from '../contract/audit.js';
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
import { found, notFound } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** Each writes to every contact, from the operator's address. */
const testsAtOnce = 10; // for the keys of a company; then one every
const testEveryMs = 360_000;

export function operatingRoutes({ store, client, taskQueue, log }: ApiOptions): Route[] {
  const current = async (companyId: string): Promise<z.infer<typeof pausesResponse>> => {
    found(await store.companies.get(companyId), `company ${companyId}`);
    return { pauses: await store.pauses.current(companyId) };
  };
  const tests = new Shares(testsAtOnce, testEveryMs);
  /** @throws Problem temporal-unavailable where no worker has done it in time */
  const inTime = async <Result>(companyId: string, trial: () => Promise<Result>): Promise<Result> => {
    try {
      return await trial();
    } catch (error) {
      log.error({ err: error, companyId }, 'what was tried did not end');
      const detail = `What came of it was not told within ${trialTimeoutMs / 1000} seconds`;
      throw new Problem('temporal-unavailable', `${detail}: see whether Temporal and a worker are running.`);
    }
  };
  return [
    route('GET /admin/companies/:companyId/pause', 'getPauses', 'Read the pauses of a company', {
      answers: { 200: ['Those that are on.', pausesResponse] },
      handle: async (c, { companyId }) => c.json(await current(companyId)),
    }),
    route('PUT /admin/companies/:companyId/pause', 'pauseCompany', 'Pause a company or one of its connectors', {
      description:
        'For planned downtime: what needs it waits, `pending`, without losing attempts or time, and goes on in order when the' +
        ' pause is over; the contacts of a rule of which something waits are told once.',
      body: pauseRequest,
      answers: { 200: ['Those that are on.', pausesResponse] },
      async handle(c, { companyId, actor, body: { what, reason, until } }) {
        const pause = { what, ...(reason && { reason }), ...(until && { until: new Date(until).toISOString() }) };
        found(await store.pauses.begin(companyId, pause, actor), `company ${companyId}`);
        return c.json(await current(companyId));
      },
    }),
    route('DELETE /admin/companies/:companyId/pause', 'endPause', 'End a pause', {
      query: z.object({ what: pausableSchema.optional().describe('Absent: whatever is paused.') }),
      answers: { 200: ['What was paused goes on.', endedPausesResponse] },
      async handle(c, { companyId, actor, query: { what } }) {
        const ended = found(await store.pauses.end(companyId, what, actor), `company ${companyId}`);
        if (ended.length === 0) throw notFound(`pause of ${what === undefined ? '' : `${what} of `}company ${companyId}`);
        // Nobody waits for that: whom it does not reach looks again within minutes.
        void resumeChains(client, companyId).catch((error: unknown) =>
          log.warn({ err: error, companyId }, 'what is paused could not be woken'),
        );
        return c.json({ ended });
      },
    }),
    route('POST /admin/companies/:companyId/notices/test', 'testNotices', 'Send a test notice to every contact', {
      description:
        'On the way that notices take, once, now. The answer says of each contact whether it arrived there, and if not, why.',
      body: noticeTestRequest,
      answers: { 200: ['What became of it at each contact.', noticeTestResponse] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, actor, body: { relayId } }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        if (actor.kind === 'key' && !tests.take(companyId)) {
          const detail = `The keys of company ${companyId} have tried out its notices ${testsAtOnce} times in an hour. Nothing was sent.`;
          const headers = { 'Retry-After': String(Math.ceil(tests.wait(companyId) / 1000)) };
          throw new Problem('rate-limited', detail, { headers, bound: 'test-notices' });
        }
        if (relayId !== undefined) found(await store.rules.get(companyId, relayId), `rule ${relayId} of company ${companyId}`);
        await store.audit.record({ actor, action: 'notices.test', companyId, details: { relayId } });
        return c.json({ contacts: await inTime(companyId, () => sendTest(client, taskQueue, companyId, relayId)) });
      },
    }),
    route('POST /admin/companies/:companyId/check', 'checkCompany', 'See whether the settings of a company work', {
      description:
        'A worker looks whether platform, ticket system and mail server answer and take the credentials, and who would be told of' +
        ' a failure. Nothing is sent and nothing is changed.',
      body: checkRequest,
      answers: { 200: ['What works and what does not.', checkResponse] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, body: { assignmentId } }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        const looked = () => checkSettings(client, taskQueue, { companyId, assignmentId });
        return c.json({ checked: await inTime(companyId, looked) });
      },
    }),
  ];
}

/** Rows that one request encrypts again: few enough to be answered at once. */
const rotatedAtOnce = 200;

/** With which keys the store is encrypted, and their rotation. */
export function encryptionRoutes({ encryption }: Store): Route[] {
  return [
    route('GET /admin/encryption', 'getEncryption', 'Read what is encrypted with which key', {
      answers: { 200: ['The keys by their ids, never the keys themselves, and the rows of each.', encryptionStatusSchema] },
      handle: async (c) => c.json(await encryption.status()),
    }),
    route('POST /admin/encryption/rotate', 'rotateEncryption', 'Encrypt what is stored with the present key', {
      description: `At most ${rotatedAtOnce} rows: to be repeated while some are \`left\` and some were \`rotated\`.`,
      answers: { 200: ['What was done and what is left.', encryptionProgressSchema] },
      handle: async (c, { actor }) => c.json(await encryption.rotate(rotatedAtOnce, actor)),
    }),
  ];
}

/** Who changed or steered what, and when. */
export function auditRoutes({ audit, companies }: Store): Route[] {
  const query = pageQuery(numberCursor);
  const list = async (request: z.infer<typeof query> & { companyId?: string }) => {
    const { items, nextCursor } = await audit.list(request);
    return auditResponse.parse({ entries: items, nextCursor });
  };
  return [
    route('GET /admin/audit', 'listAudit', 'List what was done', {
      query: query.extend({ companyId: z.string().optional().describe('Only of this company.') }),
      answers: { 200: ['The newest first.', auditResponse] },
      handle: async (c, { query }) => c.json(await list(query)),
    }),
    route('GET /admin/companies/:companyId/audit', 'listCompanyAudit', 'List what was done to a company', {
      query,
      answers: { 200: ['The newest first.', auditResponse] },
      async handle(c, { companyId, query }) {
        found(await companies.get(companyId), `company ${companyId}`);
        return c.json(await list({ ...query, companyId }));
      },
    }),
  ];
}
