/** `/admin/companies`: who uses the relay, with which settings, and the keys with which they read and steer their own chains. */

import { isDeepStrictEqual } from 'node:util';
import type { Context } from 'hono';
import { z } from 'zod';
import { companyIdPattern } from '../chain/chain.js';
import {
  companiesResponse,
  companyPatch,
  companyRequest,
  companySchema,
  leaksAuth,
  type NewCompany,
  type StoredCompany,
} from '../contract/company.js';
import { createdKeyResponse, keysResponse, newKeyRequest } from '../contract/credential.js';
import { hasContact } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { mergePatch, redact, replaceKeepingSecrets } from '../contract/secrets.js';
import type { UsedId } from '../store/companies.js';
import type { Store } from '../store/store.js';
import { invalid, pageQuery, parseAs, readObject } from './input.js';
import { found, notFound } from './problems.js';
import { type Route, route } from './route.js';

/** What a company may change of itself; its connections are the operator's to allow. */
const ownSettings = ['name', 'timeZone', 'notify'];

export function companyRoutes({ companies, keys }: Store, operatorEmail: string | undefined): Route[] {
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
    route('PUT /admin/companies/:companyId', 'putCompany', 'Make or change a company', {
      access: 'admin',
      description:
        'What is left out stays as it is, and `null` removes it. A section that is given replaces the stored one, except for' +
        ' its secrets: they are write-only, shown as `***`, kept where they are left out, and removed by `null`.',
      query: z.object({
        reuseId: z
          .literal('true')
          .optional()
          .describe('Make it although a company of this id was deleted: its chains will be seen.'),
      }),
      rawBody: companyRequest,
      answers: {
        200: ['The company is changed.', companySchema, location],
        201: ['The company is made.', companySchema, location],
      },
      problems: ['invalid-body', 'invalid-company-id', 'company-id-used'],
      async handle(c, { companyId, actor, query: { reuseId } }) {
        if (!companyIdPattern.test(companyId))
          throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
        const read = await readSettings(c, companyRequest);
        const change = (stored: StoredCompany | undefined, usedId: UsedId) => {
          assertUnused(companyId, usedId, reuseId !== undefined);
          return checked(companyId, read(stored, stored && settingsOf(stored)), stored);
        };
        const { company, created } = await companies.put(companyId, change, actor);
        return c.json(shown(company), created ? 201 : 200, { Location: `/admin/companies/${companyId}` });
      },
    }),
    route('PATCH /admin/companies/:companyId', 'changeCompany', 'Change a company', {
      description:
        'A JSON merge patch (RFC 7396): what is left out stays as it is, also within a section, and `null` removes it.' +
        ' Secrets are kept as with PUT; `auth` of another `type` begins anew. A key of the company may change its `name`,' +
        ' `timeZone` and `notify`.',
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
    route('DELETE /admin/companies/:companyId', 'deleteCompany', 'Delete a company with its rules, tokens and keys', {
      access: 'admin',
      answers: { 204: ['It is gone.'] },
      async handle(c, { companyId, actor }) {
        found(await companies.delete(companyId, actor), `company ${companyId}`);
        return c.body(null, 204);
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
      problems: ['key-name-taken'],
      async handle(c, { companyId, actor, body }) {
        const made = await keys.create(companyId, body.name, actor, body);
        if (made === 'unknown company') throw notFound(`company ${companyId}`);
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
  throw new Problem('company-id-used', `${detail}, or say ?reuseId=true (--reuse-id) where it is the same company again.`);
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
