/** The OpenAPI 3.1 document, made from what the routes say of themselves and the zod schemas that the API itself reads with. */

import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { companyIdPattern, relayIdPattern } from '../chain/chain.js';
import { steeringVerbs } from '../chain/outcome.js';
import { problemSchema } from '../contract/problem.js';
import { type ProblemSlug, problemTypeList, problemTypes } from '../contract/problem-types.js';
import { type Access, sessionCookie } from './bearer-authentication.js';
import { mergePatchType } from './input.js';
import type { Answer, Route } from './route.js';

export type Schema = z.core.JSONSchema.BaseSchema;

export type OpenApi = ReturnType<typeof openApi>;
export type DescribedOperation = ReturnType<typeof describe>;

/** By the ids in the metadata of the schemas. */
type Schemas = Record<string, Schema>;
type Content = Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
export interface DescribedAnswer {
  description: string;
  headers?: Record<string, { description: string; schema: Schema }>;
  content?: Content;
}

const description = `Takes an ordered list of actions from a webhook, runs them in order, some delayed, some conditional,
and tells somebody when one fails.

A chain authenticates itself: every action carries \`relayId\` and \`relayAccessToken\` of its rule in the body.
Everything else needs \`Authorization: Bearer …\` with the admin token, or with a key of the company where that is enough.

Errors are problem documents (RFC 9457, \`application/problem+json\`); \`type\` is the path of a page that says what to do.
Times are ISO 8601 in UTC.`;

const consoleTag: [string, string] = ['Console', 'The pages for people, which ask this API.'];
const sessionTag: [string, string] = ['Session', 'Signing in with a browser.'];
/** By the last part of a path that is named here; what is under none of them is of the service. */
const tags: Record<string, [name: string, description: string]> = {
  relay: ['Relay', 'Where webhooks send their chains.'],
  chains: ['Chains', 'How a chain stands, and the ways to steer it.'],
  causes: ['Causes', 'For which reasons chains need attention, and who sees to them.'],
  rejected: [
    'Rejected requests',
    'Requests that were refused although their sender is known: kept without their tokens, to be sent again once what was ' +
      'wrong is put right.',
  ],
  companies: ['Companies', 'Who uses the relay, and with which settings.'],
  rules: ['Rules', 'What chains are run under: who is told of a failure, and what happens then.'],
  tokens: ['Tokens', 'The access tokens of a rule, and the tokens of operators.'],
  keys: ['Keys', 'Keys with which a company reads and steers its own chains.'],
  audit: ['Audit', 'Who changed or steered what.'],
  codec: ['Codec', "What Temporal's Web UI and command lines decode and encode payloads with."],
  hold: ['Deciding from a notice', 'Pages for contacts without a key.'],
  session: sessionTag,
  'sign-in': sessionTag,
  'sign-out': sessionTag,
  assets: consoleTag,
  service: ['Service', 'Whether the relay works, and this documentation.'],
};

const pathParameters: Record<string, z.ZodType> = {
  companyId: z.string().regex(companyIdPattern).describe('The company.'),
  relayId: z.string().regex(relayIdPattern).describe('The rule.'),
  chainId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/)
    .describe('The chain, from the answer to its POST.'),
  index: z.int().min(0).describe('The zero-based place of the action in the chain.'),
  verb: z
    .enum(steeringVerbs.filter((verb) => verb !== 'mend'))
    .describe(
      '`retry` and `skip` an action that needs attention (`retry` also one that failed or is partly failed), `runNow` and ' +
        '`reschedule` one that is scheduled, `cancel` one that has not ended.',
    ),
  bulkId: z.string().describe('From the answer to the confirmation.'),
  link: z.string().describe('As the notice has it.'),
  causeId: z.string().describe('The cause, as the list and notices name it.'),
  rejectedId: z.string().describe('The rejected request.'),
  tokenId: z.string().describe('The token; not the token itself.'),
  keyId: z.string().describe('The key; not the key itself.'),
  adminTokenId: z.string().describe('The token; not the token itself.'),
  page: z.string().describe('Which page of the company.'),
  item: z.string().describe('What the page is about.'),
  file: z.string().describe('As the page names it.'),
  slug: z.string().describe("The last segment of a problem's `type`."),
};

/** @param url - where the API is. */
export function openApi(url: string, routes: readonly Route[]) {
  const schemas: Schemas = {};
  const paths: Record<string, Partial<Record<Route['method'], DescribedOperation>>> = {};
  for (const route of routes) paths[pathOf(route)] = { ...paths[pathOf(route)], [route.method]: describe(route, schemas) };
  return {
    openapi: '3.1.1',
    info: { title: 'Relay', version: packageJson.version, description },
    servers: [{ url }],
    tags: [...new Set(Object.values(tags))].map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      examples: Object.fromEntries(
        problemTypeList.map((type) => [type.slug, { summary: type.title, value: problemExample(type) }]),
      ),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token, `RELAY_ADMIN_TOKEN`." },
        companyKey: { type: 'http', scheme: 'bearer', description: 'A key of the company in the path, `rlk_…`.' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'From `POST /session`.' },
      },
    },
  };
}

/** With `{name}` for parameters. */
export function pathOf({ path }: Route): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Alternatives; `{}` stands for none. */
const securities: Record<Access, Record<string, []>[]> = {
  public: [],
  'relay tokens': [{}, { adminToken: [] }, { companyKey: [] }, { session: [] }],
  'admin or company key': [{ adminToken: [] }, { companyKey: [] }, { session: [] }],
  'admin or manage key': [{ adminToken: [] }, { companyKey: [] }, { session: [] }],
  admin: [{ adminToken: [] }, { session: [] }],
  'admin or this machine': [{}, { adminToken: [] }, { session: [] }],
};

/** What any endpoint may answer with. `method-not-allowed` is an answer of a path. */
export const everywhere: readonly ProblemSlug[] = [
  'bad-request',
  'malformed-url',
  'method-not-allowed',
  'request-timeout',
  'misdirected',
  'headers-too-large',
  'internal',
];

/** What the route may answer with beside that. */
export function problemsOf(route: Route): ProblemSlug[] {
  const { problems = [], path, access, query, body, rawBody, answers } = route;
  const slugs: ProblemSlug[] = [...problems];
  // What the path names has to be there, unless a PUT makes it; the sender of a chain is not told.
  const makes = route.method === 'put' && 201 in answers;
  if (path.includes(':') && access !== 'relay tokens' && !makes) slugs.push('not-found');
  if (body) slugs.push('invalid-body');
  if (body || rawBody) slugs.push('malformed-json', 'body-too-large', 'unsupported-media-type');
  if (query) slugs.push('invalid-query');
  if (access !== 'public') slugs.push('unauthorized', 'rate-limited');
  if (access.startsWith('admin') && path.includes(':companyId')) slugs.push('forbidden');
  if (access.startsWith('admin') && route.method !== 'get') slugs.push('foreign-page');
  return problemTypeList.map(({ slug }) => slug).filter((slug) => slugs.includes(slug) && !everywhere.includes(slug));
}

export function tagOf({ path }: Route): string {
  if (/^\/(companies|$)/.test(path)) return consoleTag[0];
  return (tags[path.split('/').findLast((segment) => segment in tags) ?? 'service'] ?? [''])[0];
}

function describe(route: Route, schemas: Schemas) {
  const { id, path, summary, description, access, query, headers, body = route.rawBody, examples, answers } = route;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const inPath = Object.fromEntries(names.map((name) => [name, pathParameters[name] ?? z.string()]));
  const parameters = (place: string, shape: Record<string, z.core.$ZodType> = {}) =>
    Object.entries(shape).map(([name, type]) => {
      const { description, ...schema } = schemaOf(type, schemas);
      return { name, in: place, required: !z.safeParse(type, undefined).success, description, schema };
    });
  const mediaTypes = route.method === 'patch' ? ['application/json', mergePatchType] : ['application/json'];
  const content: Content = {};
  if (body) for (const type of mediaTypes) content[type] = { schema: schemaOf(body, schemas), examples };
  const described = Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer, schemas)] as const);
  const problems = problemAnswers([...problemsOf(route), ...everywhere], schemas);
  const responses: Record<string, DescribedAnswer> = { ...Object.fromEntries(described), ...problems };
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    description,
    security: securities[access],
    parameters: [...parameters('path', inPath), ...parameters('query', query?.shape), ...parameters('header', headers?.shape)],
    ...(body && { requestBody: { required: !z.safeParse(body, route.rawBody ? undefined : {}).success, content } }),
    responses,
  };
}

function describeAnswer([description, body, headers = {}]: Answer, schemas: Schemas): DescribedAnswer {
  return {
    description,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text)])),
    content:
      typeof body === 'string'
        ? { [body]: { schema: { type: 'string' } } }
        : body && { 'application/json': { schema: schemaOf(body, schemas) } },
  };
}

function header(description: string): { description: string; schema: Schema } {
  return { description, schema: { type: 'string' } };
}

const problemHeaders: Record<number, DescribedAnswer['headers']> = {
  401: { 'WWW-Authenticate': header('What is needed.') },
  405: { Allow: header('The methods that are possible.') },
  429: { 'Retry-After': header('Seconds to wait.') },
  503: { 'Retry-After': header('Seconds to wait.') },
};

/** By status. */
function problemAnswers(slugs: ProblemSlug[], schemas: Schemas): Record<string, DescribedAnswer> {
  const schema = schemaOf(problemSchema, schemas);
  const answers: Record<string, DescribedAnswer> = {};
  for (const { status } of slugs.map((slug) => problemTypes[slug])) {
    const ofStatus = slugs.filter((slug) => problemTypes[slug].status === status);
    const description = ofStatus.map((slug) => `${problemTypes[slug].title} (\`/problems/${slug}\`)`).join('; ');
    const examples = Object.fromEntries(ofStatus.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }]));
    const headers = problemHeaders[status] ?? {};
    answers[status] = { description, headers, content: { 'application/problem+json': { schema, examples } } };
  }
  return answers;
}

export function problemExample({ slug, title, status, example }: (typeof problemTypeList)[number]) {
  return { type: `/problems/${slug}`, title, status, ...example };
}

/** The JSON Schema. Those in it that have an id of their own are added to `schemas`, and referred to. */
function schemaOf(schema: z.core.$ZodType, schemas: Schemas): Schema {
  // Inside an array, a schema with an id is a reference like any other.
  const { items = {}, $defs = {} } = z.toJSONSchema(z.array(schema), {
    // As callers write and read them: defaults may be left out, and answers may get further fields.
    io: 'input',
    override: ({ jsonSchema }) => {
      // What zod adds of its own.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  const inComponents = (part: unknown) => JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
  Object.assign(schemas, inComponents($defs));
  return inComponents(items);
}
