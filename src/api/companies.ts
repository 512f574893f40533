/** `/admin/companies`: who uses the relay, with which settings, and the keys with which they read and steer their own chains. */

import { isDeepStrictEqual } from 'node:util';
import type { Context } from 'hono';
import { z } from 'zod';
import { companyIdPattern, companyLink } from '../chain/chain.js';
import type { Actor } from '../contract/audit.js';
import {
  companiesResponse,
  companyFactsSchema,
  companyPatch,
  companyRequest,
  companySchema,
  deletedCompanyResponse,
  erasedResponse,
  leaksAuth,
  madeCompanyResponse,
  type NewCompany,
  type StoredCompany,
} from '../contract/company.js';
import { createdKeyResponse, keysResponse, mostKeys, newKeyRequest } from '../contract/credential.js';
import { hasContact } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { mergePatch, redact, replaceKeepingSecrets } from '../contract/secrets.js';
import type { UsedId } from '../store/companies.js';
import { findChains, mostChains, steerChains } from '../temporal/bulk.js';
import { countOpenChains, eraseClosed, remainsOf } from '../temporal/erase.js';
import { invalid, pageQuery, parseAs, readObject } from './input.js';
import { found, limitReached, notFound } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** What a company may change of itself; its connections are the operator's to allow. */
const ownSettings = ['name', 'timeZone', 'notify', 'noticeLinks'];

export type CompanyOptions = Pick<ApiOptions, 'store' | 'client' | 'links' | 'taskQueue' | 'operatorEmail'>;

export function companyRoutes(options: CompanyOptions): Route[] {
  const { client, links, operatorEmail } = options;
  const { companies, keys, audit, settings } = options.store;
  const checked = (companyId: string, settings: Omit<NewCompany, 'companyId'>, stored?: StoredCompany): NewCompany => {
    const { notify } = settings;
    const leaking = (['platform', 'ticketing'] as const).filter((name) => {
      const system = settings[name];
      // What was set when this was allowed may stay until somebody changes it.
      return system && leaksAuth(system) && !isDeepStrictEqual(system, stored?.[name]);
    });
    if (leaking.length > 0)
      throw invalid(
        leaking.map((name) => ({
          pointer: `/${name}/baseUrl`,
          detail: 'must be https, since auth is sent there (or set allowPlainText to true)',
        })),
      );
    if (operatorEmail !== undefined || (notify && hasContact(notify))) return { companyId, ...settings };
    const detail =
      'must name somebody to tell when something fails: emails or webhookUrl (or the operator sets RELAY_OPERATOR_EMAIL)';
    throw invalid([{ pointer: '/notify', detail }]);
  };
  /** @returns the id of the bulk that does it; undefined: there is nothing to cancel after all. @throws Problem company-in-use */
  const cancelOpen = async (companyId: string, open: number, isMeant: boolean, actor: Actor) => {
    const said = `Company ${companyId} has ${open === 1 ? '1 open chain' : `${open} open chains`}.`;
    const how = 'Wait until they have ended, or cancel them with ?cancelChains=true (--cancel-chains).';
    if (!isMeant) throw new Problem('company-in-use', `${said} ${how}`);
    const most = `No more than ${mostChains} are cancelled at once: begin with relay bulk cancel ${companyId} --until <time>.`;
    if (open > mostChains) throw new Problem('company-in-use', `${said} ${most}`);
    const request = { verb: 'cancel', filter: {}, companyId } as const;
    const chains = await findChains(options, request);
    return chains.length > 0 ? steerChains(options, request, chains, actor) : undefined;
  };
  const location = { Location: 'The path of what was made.' };
  return [
    route('GET /admin/companies', 'listCompanies', 'List the companies', {
      query: pageQuery(companyIdPattern),
      answers: { 200: ['By company id.', companiesResponse] },
      async handle(c, { query }) {
        const { items, nextCursor } = await companies.list(query);
        return c.json({ companies: items.map(shown), nextCursor });
      },
    }),
    route('GET /co/:companyId', 'getCompanyFacts', 'Read what every key of a company may know of it', {
      access: 'admin or company key',
      use: 'reads',
      answers: { 200: ['Its name and time zone, its rules by name, and what is paused.', companyFactsSchema] },
      async handle(c, { companyId }) {
        const { company, rules, pauses } = found(await settings.of(companyId), `company ${companyId}`);
        const webUi = companyLink(links, companyId);
        return c.json(companyFactsSchema.parse({ ...company, rules: [...rules.values()], pauses, webUi }));
      },
    }),
    route('PUT /admin/companies/:companyId', 'putCompany', 'Make or change a company', {
      access: 'admin',
      description:
        'What is left out stays as it is, and `null` removes it. A section that is given replaces the stored one, except for' +
        ' its secrets: they are write-only, shown as `***`, kept where they are left out, and removed by `null`.',
      query: z.object({
        reuseId: z
          .literal('true')
          .optional()
          .describe(
            'Make it although a company of this id was deleted: what Temporal keeps of its chains, see `remains`, will be seen.',
          ),
      }),
      rawBody: companyRequest,
      answers: {
        200: ['The company is changed.', companySchema, location],
        201: ['The company is made.', madeCompanyResponse, location],
      },
      problems: ['invalid-body', 'invalid-company-id', 'company-id-used', 'temporal-unavailable'],
      async handle(c, { companyId, actor, query: { reuseId } }) {
        if (!companyIdPattern.test(companyId))
          throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
        const read = await readSettings(c, companyRequest);
        const change = (stored: StoredCompany | undefined, usedId: UsedId) => {
          assertUnused(companyId, usedId, reuseId !== undefined);
          return checked(companyId, read(stored, stored && settingsOf(stored)), stored);
        };
        const remains = reuseId && (await remainsOf(client, companyId));
        const { company, created } = await companies.put(companyId, change, actor);
        const location = { Location: `/admin/companies/${companyId}` };
        return created ? c.json({ ...shown(company), remains }, 201, location) : c.json(shown(company), 200, location);
      },
    }),
    route('PATCH /admin/companies/:companyId', 'changeCompany', 'Change a company', {
      description:
        'A JSON merge patch (RFC 7396): what is left out stays as it is, also within a section, and `null` removes it.' +
        ' Secrets are kept as with PUT; `auth` of another `type` begins anew. A key of the company may change its `name`,' +
        ' `timeZone`, `notify` and `noticeLinks`.',
      rawBody: companyPatch,
      answers: { 200: ['The company as it is now.', companySchema] },
      problems: ['invalid-body'],
      async handle(c, { companyId, actor }) {
        const read = await readSettings(c, companyRequest, mergePatch);
        const foreign = actor.kind === 'key' && Object.keys(await readObject(c)).find((field) => !ownSettings.includes(field));
        if (foreign)
          throw new Problem(
            'forbidden',
            `With a key, ${ownSettings.join(', ')} can be changed: ${foreign} needs an admin token.`,
          );
        const change = (stored?: StoredCompany) => checked(companyId, read(found(stored, `company ${companyId}`)), stored);
        const { company } = await companies.put(companyId, change, actor);
        return c.json(shown(company));
      },
    }),
    route('GET /admin/companies/:companyId', 'getCompany', 'Read a company', {
      answers: { 200: ['The company, its secrets as `***`.', companySchema] },
      handle: async (c, { companyId }) => c.json(shown(found(await companies.get(companyId), `company ${companyId}`))),
    }),
    route('DELETE /admin/companies/:companyId', 'deleteCompany', 'Delete a company with all that is stored of it', {
      access: 'admin',
      description:
        'Its settings, secrets, rules, tokens, keys, sessions, pauses, refused requests, causes and counts; the audit stays. Not while it' +
        ' has open chains, unless they are to be cancelled, which is done in the background.',
      query: z.object({ cancelChains: z.literal('true').optional().describe('Cancel its open chains.') }),
      answers: { 200: ['It is gone, but for what Temporal keeps.', deletedCompanyResponse], 204: ['It is gone.'] },
      problems: ['company-in-use', 'temporal-unavailable'],
      async handle(c, { companyId, actor, query: { cancelChains } }) {
        found(await companies.get(companyId), `company ${companyId}`);
        const open = await countOpenChains(client, companyId);
        const bulkId = open > 0 ? await cancelOpen(companyId, open, cancelChains !== undefined, actor) : undefined;
        const remains = await remainsOf(client, companyId);
        found(await companies.delete(companyId, actor), `company ${companyId}`);
        return remains ? c.json({ remains, bulkId }) : c.body(null, 204);
      },
    }),
    route('POST /admin/companies/:companyId/erase', 'eraseCompany', 'Erase what Temporal keeps of a deleted company', {
      access: 'admin',
      description:
        'Deletes histories of runs that have closed, some hundred at most: chains, delayed actions, notices, bulks. To be repeated' +
        ' while some were `erased` and some are `closed`.',
      answers: { 200: ['What was done and what is left.', erasedResponse] },
      problems: ['company-in-use', 'temporal-unavailable'],
      async handle(c, { companyId, actor }) {
        if (await companies.get(companyId))
          throw new Problem(
            'company-in-use',
            `There is a company ${companyId}: what Temporal keeps of it is erased once it is deleted.`,
          );
        found(await companies.wasDeleted(companyId), `company ${companyId}, and none was deleted`);
        const erased = await eraseClosed(client, companyId);
        if (erased > 0) await audit.record({ actor, action: 'company.erase', companyId, details: { runs: erased } });
        return c.json({ erased, remains: await remainsOf(client, companyId) });
      },
    }),
    route('GET /admin/companies/:companyId/keys', 'listKeys', 'List the keys of a company', {
      answers: { 200: ['By name; never the keys themselves.', keysResponse] },
      handle: async (c, { companyId }) => c.json({ keys: found(await keys.list(companyId), `company ${companyId}`) }),
    }),
    route('POST /admin/companies/:companyId/keys', 'createKey', 'Make a key', {
      description: 'The answer is the only time that it is shown. One that a key makes ends with that key, or earlier.',
      body: newKeyRequest,
      answers: { 201: ['The key.', createdKeyResponse] },
      problems: ['key-name-taken', 'limit-reached'],
      async handle(c, { companyId, actor, body }) {
        const made = await keys.create(companyId, body.name, actor, body);
        if (made === 'unknown company') throw notFound(`company ${companyId}`);
        if (made === 'too many') throw limitReached(companyId, `${mostKeys} keys`);
        if (made === 'name taken') throw new Problem('key-name-taken', `Company ${companyId} already has a key "${body.name}".`);
        return c.json(made, 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route('DELETE /admin/companies/:companyId/keys/:keyId', 'deleteKey', 'Delete a key', {
      answers: { 204: ['It is gone.'] },
      async handle(c, { companyId, keyId, actor }) {
        found(await keys.delete(companyId, keyId, actor), `key ${keyId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}

function shown(company: StoredCompany): StoredCompany {
  return redact(companySchema, company);
}

/** In Temporal, a company is known by its id alone, and some stores of its lists do not tell cases apart. @throws Problem 409 */
function assertUnused(companyId: string, { by, deletedAt }: UsedId, reuse: boolean): void {
  if (by !== undefined)
    throw new Problem('company-id-used', `There is a company ${by}, and ids must differ in more than case: choose another id.`);
  if (deletedAt === undefined || reuse) return;
  const detail = `A company ${companyId} was deleted at ${deletedAt}, and this one would see its chains: choose another id`;
  const same = 'say ?reuseId=true (--reuse-id) where it is the same company again';
  throw new Problem('company-id-used', `${detail}, or ${same}. relay companies erase ${companyId} deletes what is left of them.`);
}

/** What a request may leave as it is. */
function settingsOf({ companyId, name, createdAt, updatedAt, ...settings }: StoredCompany): object {
  return settings;
}

/**
 * Reads a body that changes settings: what it comes to, secrets above all, depends on what is stored.
 * @returns what makes the settings to be stored of those that are; it throws a Problem 400 that names all mistakes.
 */
export async function readSettings<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  merge = replaceKeepingSecrets,
): Promise<(stored?: object, unlessGiven?: object) => z.infer<Schema>> {
  const body = await readObject(c);
  return (stored, unlessGiven) => {
    const { value, problems } = merge(schema, { ...unlessGiven, ...body }, stored);
    return parseAs(schema, value, problems);
  };
}
