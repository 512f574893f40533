/** `/admin/companies`: the companies, their settings and their keys. */

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
import { addressesSetBy } from './addresses.js';
import { linksFor } from './bearer-authentication.js';
import { invalid, pageQuery, parseAs, readObject } from './input.js';
import { found, limitReached, notFound } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** The settings that a company key may change. */
const ownSettings = ['name', 'timeZone', 'notify', 'noticeLinks', 'noticeEdits', 'weeklyDigest', 'platform', 'ticketing'];

export type CompanyOptions = Pick<ApiOptions, 'store' | 'client' | 'links' | 'taskQueue' | 'operatorEmail' | 'simulators'>;

export function companyRoutes(options: CompanyOptions): Route[] {
  const { client, links, operatorEmail, simulators } = options;
  const simulated = Object.values(simulators ?? {})
    .flat()
    .map(({ settings }) => settings.baseUrl);
  const { companies, keys, audit, settings } = options.store;
  const checked = (companyId: string, settings: Omit<NewCompany, 'companyId'>, stored?: StoredCompany): NewCompany => {
    const { notify } = settings;
    const leaking = (['platform', 'ticketing'] as const).filter((name) => {
      const system = settings[name];
      // A stored system may send `auth` over plain http. It stays valid until somebody changes the system.
      return system && leaksAuth(system) && !isDeepStrictEqual(system, stored?.[name]);
    });
    const leaks = 'must be https, because the relay sends auth to this address (or set allowPlainText to true)';
    if (leaking.length > 0) throw invalid(leaking.map((name) => ({ pointer: `/${name}/baseUrl`, detail: leaks })));
    if (operatorEmail !== undefined || (notify && hasContact(notify))) return { companyId, ...settings };
    const detail = 'must name a contact for failures: emails or webhookUrl (or the operator sets RELAY_OPERATOR_EMAIL)';
    throw invalid([{ pointer: '/notify', detail }]);
  };
  /** Cancels the open chains. @returns the id of the bulk order; undefined if no chain is open. @throws Problem company-in-use */
  const cancelOpen = async (companyId: string, open: number, isMeant: boolean, actor: Actor) => {
    const said = `Company ${companyId} has ${open === 1 ? '1 open chain' : `${open} open chains`}.`;
    const how = 'Wait until no chain is open, or cancel all open chains with ?cancelChains=true (--cancel-chains).';
    if (!isMeant) throw new Problem('company-in-use', `${said} ${how}`);
    const most = `One request can cancel at most ${mostChains} chains. Cancel older chains first: npx relay bulk cancel ${companyId} --until <time>.`;
    if (open > mostChains) throw new Problem('company-in-use', `${said} ${most}`);
    const request = { verb: 'cancel', filter: {}, companyId } as const;
    const chains = await findChains(options, request);
    return chains.length > 0 ? steerChains(options, request, chains, actor) : undefined;
  };
  const location = { Location: 'The path of the company.' };
  return [
    route.admin('GET /admin/companies', 'listCompanies', 'List the companies', {
      query: pageQuery(companyIdPattern),
      answers: { 200: ['The companies, sorted by id.', companiesResponse] },
      async handle(c, { query }) {
        const { items, nextCursor } = await companies.list(query);
        return c.json({ companies: items.map(shown), nextCursor });
      },
    }),
    route.company('GET /co/:companyId', 'getCompanyFacts', 'Read the basic facts of a company', {
      use: 'reads',
      answers: { 200: ['The name, time zone, rules and pauses. Every key of the company can read them.', companyFactsSchema] },
      async handle(c, { companyId, actor }) {
        const { company, rules, pauses } = found(await settings.of(companyId), `company ${companyId}`);
        const webUi = companyLink(linksFor(actor, links), companyId);
        return c.json(companyFactsSchema.parse({ ...company, rules: [...rules.values()], pauses, webUi, simulators }));
      },
    }),
    route.admin('PUT /admin/companies/:companyId', 'putCompany', 'Create or change a company', {
      description:
        'Missing settings stay the same. `null` removes a setting. A section replaces the whole stored section, except for secrets. ' +
        'Secrets are write-only: answers show `***`. A missing secret stays the same. `null` removes a secret.',
      query: z.object({
        reuseId: z
          .literal('true')
          .optional()
          .describe(
            'Creates the company even if a company with this id was deleted. The new company can see the old chains that Temporal ' +
              'still keeps (`remains`).',
          ),
      }),
      rawBody: companyRequest,
      answers: {
        200: ['The company is changed.', companySchema, location],
        201: ['The company is created.', madeCompanyResponse, location],
      },
      problems: ['invalid-body', 'invalid-company-id', 'company-id-used', 'temporal-unavailable'],
      async handle(c, { companyId, actor, query: { reuseId } }) {
        if (!companyIdPattern.test(companyId))
          throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
        const read = await readSettings(c, companyRequest);
        const given = await readObject(c);
        const change = (stored: StoredCompany | undefined, usedId: UsedId) => {
          assertUnused(companyId, usedId, reuseId !== undefined);
          const settings = checked(companyId, read(stored, stored && settingsOf(stored)), stored);
          return { ...settings, setByCompany: addressesSetBy(actor, given, settings, stored, simulated) };
        };
        const remains = reuseId && (await remainsOf(client, companyId));
        const { company, created } = await companies.put(companyId, change, actor);
        const location = { Location: `/admin/companies/${companyId}` };
        return created ? c.json({ ...shown(company), remains }, 201, location) : c.json(shown(company), 200, location);
      },
    }),
    route.manager('PATCH /admin/companies/:companyId', 'changeCompany', 'Change a company', {
      description:
        'Send a JSON merge patch (RFC 7396). Missing settings stay the same, also within a section. `null` removes a setting. ' +
        'Missing secrets stay the same. An `auth` of another `type` replaces the whole old `auth`. If the `kind` of a ' +
        'connection changes, the relay removes the old settings of the connection. A key or person of the company can change `name`, `timeZone`, `notify`, ' +
        '`noticeLinks`, `noticeEdits`, `weeklyDigest`, `platform` and `ticketing`. Addresses in such a change must be public.',
      rawBody: companyPatch,
      answers: { 200: ['The changed company.', companySchema] },
      problems: ['invalid-body', 'limit-reached'],
      async handle(c, { companyId, actor }) {
        const read = await readSettings(c, companyRequest, mergePatch);
        const given = await readObject(c);
        const foreign = actor.kind !== 'admin' && Object.keys(given).find((field) => !ownSettings.includes(field));
        const allowed = `Keys and people of the company can change only ${ownSettings.join(', ')}`;
        if (foreign) throw new Problem('forbidden', `${allowed}. The setting ${foreign} needs an admin token.`);
        const change = (stored?: StoredCompany) => {
          const settings = checked(companyId, read(found(stored, `company ${companyId}`)), stored);
          return { ...settings, setByCompany: addressesSetBy(actor, given, settings, stored, simulated) };
        };
        const { company } = await companies.put(companyId, change, actor);
        return c.json(shown(company));
      },
    }),
    route.manager('GET /admin/companies/:companyId', 'getCompany', 'Read a company', {
      answers: { 200: ['The company. Secrets are shown as `***`.', companySchema] },
      handle: async (c, { companyId }) => c.json(shown(found(await companies.get(companyId), `company ${companyId}`))),
    }),
    route.admin('DELETE /admin/companies/:companyId', 'deleteCompany', 'Delete a company with all its stored data', {
      description:
        'Deletes settings, secrets, rules, tokens, keys, people, sessions, pauses, refused requests, causes and counts. The audit log stays. ' +
        'To delete a company with open chains, use `cancelChains`, which cancels them in the background.',
      query: z.object({ cancelChains: z.literal('true').optional().describe('Cancels the open chains of the company.') }),
      answers: {
        200: ['The company is deleted. Temporal still keeps some of its data.', deletedCompanyResponse],
        204: ['The company is deleted.'],
      },
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
    route.admin('POST /admin/companies/:companyId/erase', 'eraseCompany', 'Erase the data of a deleted company from Temporal', {
      description:
        'Deletes the histories of at most 200 closed workflow runs: chains, delayed actions, notices, bulk orders. Repeat the request ' +
        'until `erased` or `closed` is 0.',
      answers: { 200: ['The number of erased histories, and the data that is left.', erasedResponse] },
      problems: ['company-in-use', 'temporal-unavailable'],
      async handle(c, { companyId, actor }) {
        const exists = `Company ${companyId} exists: delete the company first, then erase its data from Temporal.`;
        if (await companies.get(companyId)) throw new Problem('company-in-use', exists);
        found(await companies.wasDeleted(companyId), `company ${companyId}, and no company with this id was deleted`);
        const erased = await eraseClosed(client, companyId);
        if (erased > 0) await audit.record({ actor, action: 'company.erase', companyId, details: { runs: erased } });
        return c.json({ erased, remains: await remainsOf(client, companyId) });
      },
    }),
    route.manager('GET /admin/companies/:companyId/keys', 'listKeys', 'List the keys of a company', {
      answers: { 200: ['The keys without their secrets, sorted by name.', keysResponse] },
      handle: async (c, { companyId }) => c.json({ keys: found(await keys.list(companyId), `company ${companyId}`) }),
    }),
    route.manager('POST /admin/companies/:companyId/keys', 'createKey', 'Create a key', {
      description:
        'Only this answer shows the new key. If a key creates a new key, the new key expires at the same time as the old key or earlier.',
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
    route.manager('DELETE /admin/companies/:companyId/keys/:keyId', 'deleteKey', 'Delete a key', {
      answers: { 204: ['The key is deleted.'] },
      async handle(c, { companyId, keyId, actor }) {
        found(await keys.delete(companyId, keyId, actor), `key ${keyId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}

const shown = (company: StoredCompany): StoredCompany => redact(companySchema, company);

/** Refuses an id that was used before. Upper and lower case count as equal, as in some Temporal stores. @throws Problem 409 */
function assertUnused(companyId: string, { by, deletedAt }: UsedId, reuse: boolean): void {
  const similar = `The id of company ${by} differs from this id only in upper and lower case: choose another id.`;
  if (by !== undefined) throw new Problem('company-id-used', similar);
  if (deletedAt === undefined || reuse) return;
  const detail = `A company ${companyId} was deleted at ${deletedAt}, and a new company could see the old chains: choose another id`;
  const same = 'use ?reuseId=true (--reuse-id) if the new company is the deleted company';
  throw new Problem(
    'company-id-used',
    `${detail}, or ${same}. To delete the old chains: npx relay companies erase ${companyId}.`,
  );
}

const settingsOf = ({ companyId, name, setByCompany, createdAt, updatedAt, ...settings }: StoredCompany): object => settings;

/**
 * Reads a body with settings. A masked secret (`***`) in the body keeps its stored value.
 * @returns a function that makes the new settings from the stored settings. The function throws a Problem 400 with all mistakes.
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
