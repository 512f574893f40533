/** Makes the OpenAPI 3.1 document from the routes and from the zod schemas that validate the requests. */

import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { steeringVerbs } from '../chain/allowed-verbs.js';
import { companyIdPattern, relayIdPattern } from '../chain/chain.js';
import { problemSchema } from '../contract/problem.js';
import { type ProblemSlug, problemTypeList, problemTypes } from '../contract/problem-types.js';
import { type Access, sessionCookie } from './bearer-authentication.js';
import { mergePatchType } from './input.js';
import type { Answer, Route } from './route.js';

export type Schema = z.core.JSONSchema.BaseSchema;
export type OpenApi = ReturnType<typeof openApi>;
type DescribedOperation = ReturnType<typeof describe>;

/** The schemas, by the `id` in their metadata. */
type Schemas = Record<string, Schema>;
type Content = Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
interface DescribedAnswer {
  description: string;
  headers?: Record<string, { description: string; schema: Schema }>;
  content?: Content;
}

const description = `The relay takes an ordered list of actions from a webhook and runs them in order. An action can have a delay
and a condition. If an action fails, the relay sends notices.

The POST of a chain needs no header to authenticate: every action has the \`relayId\` and \`relayAccessToken\` of its rule.
The POST of an event needs a token of its rule, or the signature of its sender.
Most other requests need \`Authorization: Bearer …\` with the admin token. Often, a key of the company is enough.

Errors are [problem documents](#tag/Problems) (RFC 9457, \`application/problem+json\`). Their \`type\` is the path of a page that
says what to do. Times are ISO 8601 in UTC.

In the examples, \`$RELAY_KEY\` is a key of the company, \`$RELAY_ADMIN_TOKEN\` is the admin token, and \`$EVENT_TOKEN\` is an event
token of the rule.`;

const consoleTag: [string, string] = ['Console', 'The pages for people, which use this API.'];
const sessionTag: [string, string] = ['Session', 'Sign in with a browser.'];
/** The tag for each segment of a path. If several segments have a tag, the last tag counts. Without a tag: `service`. */
const tags: Record<string, [name: string, description: string]> = {
  relay: ['Relay', 'Webhooks send their chains here.'],
  events: ['Events', 'Events of rules, and the stream of changes of a company.'],
  chains: ['Chains', 'Chains, their state, and decisions about them.'],
  assignments: ['Chains', 'Chains, their state, and decisions about them.'],
  causes: ['Causes', 'The reasons why chains need attention, and the people who work on them.'],
  rejected: [
    'Rejected requests',
    'Refused requests of known senders, stored without tokens. Send them again when the problem is fixed, or drop them.',
  ],
  companies: ['Companies', 'Companies and their settings.'],
  rules: ['Rules', 'Every action has a rule. The rule decides who gets notices of a failure, and what happens then.'],
  tokens: ['Tokens', 'The access tokens of a rule, and the tokens of operators.'],
  keys: ['Keys', 'The keys and the people of a company, for its own chains and settings.'],
  people: ['Keys', 'The keys and the people of a company, for its own chains and settings.'],
  audit: ['Audit', 'All changes and decisions.'],
  codec: ['Codec', "Decrypts and encrypts payloads for Temporal's Web UI and command line."],
  hold: ['Deciding from a notice', 'Pages for contacts without a key.'],
  confirm: ['Deciding from a notice', 'Pages for contacts without a key.'],
  contacts: ['Companies', 'Companies and their settings.'],
  session: sessionTag,
  'sign-in': sessionTag,
  'sign-out': sessionTag,
  'web-ui': sessionTag,
  assets: consoleTag,
  service: ['Service', 'Health, metrics, and this documentation.'],
};

const problemRows = problemTypeList.map((type) => `| ${type.status} | ${problemLink(type)} | ${type.meaning} |`);
/** This tag has no operations. Redoc shows it as a chapter. */
const problemsTag = {
  name: 'Problems',
  description: ['| Status | Problem | Meaning |', '| --- | --- | --- |', ...problemRows].join('\n'),
  'x-traitTag': true,
};

const chainIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
const pathParameters: Record<string, z.ZodType> = {
  companyId: z.string().regex(companyIdPattern).describe('The id of the company.'),
  relayId: z.string().regex(relayIdPattern).describe('The `relayId` of the rule.'),
  chainId: z.string().regex(chainIdPattern).describe('The `chainId` from the answer that accepted the chain.'),
  index: z.int().min(0).describe('The index of the action in the chain, from 0.'),
  verb: z
    .enum(steeringVerbs.filter((verb) => verb !== 'mend'))
    .describe(
      '`retry`: for an action that needs attention, has failed, or has partly failed. `skip`: for an action that needs attention. `runNow`, ' +
        '`reschedule`: for a scheduled action. `cancel`: for an action that has not ended.',
    ),
  bulkId: z.string().describe('The `bulkId` of the bulk order.'),
  link: z.string().describe('The last part of the link in the notice or mail.'),
  assignmentId: z.string().describe('The id of the assignment at the platform.'),
  causeId: z.string().describe('The id of the cause.'),
  rejectedId: z.string().describe('The id of the refused request.'),
  token: z.string().describe('The event token of the rule. The relay never logs this token.'),
  tokenId: z.string().describe('The id of the token, not its secret.'),
  keyId: z.string().describe('The id of the key, not its secret.'),
  personId: z.string().describe('The id of the person.'),
  adminTokenId: z.string().describe('The id of the token, not its secret.'),
  version: z.int().min(1).describe('The number of the version.'),
  eventId: z.string().describe('The id of the event.'),
  page: z.string().describe('The name of the page.'),
  item: z.string().describe('The id of the item on the page.'),
  file: z.string().describe('The name of the file.'),
  slug: z.string().describe("The last segment of a problem's `type`."),
};

/** @param url - the address of the API */
export function openApi(url: string, routes: readonly Route[]) {
  const schemas: Schemas = {};
  const paths: Record<string, Partial<Record<Route['method'], DescribedOperation>>> = {};
  for (const route of routes) paths[pathOf(route)] = { ...paths[pathOf(route)], [route.method]: describe(route, schemas, url) };
  const problemExamples = problemTypeList.map((type) => [type.slug, { summary: type.title, value: problemExample(type) }]);
  return {
    openapi: '3.1.1',
    info: { title: 'Relay', version: packageJson.version, description },
    servers: [{ url }],
    tags: [...[...new Set(Object.values(tags))].map(([name, description]) => ({ name, description })), problemsTag],
    paths,
    components: {
      schemas,
      examples: Object.fromEntries(problemExamples),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token, `RELAY_ADMIN_TOKEN`." },
        companyKey: { type: 'http', scheme: 'bearer', description: 'A key (`rlk_…`) of the company that the path names.' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The cookie that `POST /session` sets.' },
      },
    },
  };
}

type Security = Record<string, []>[];
const operator: Security = [{ adminToken: [] }, { session: [] }];
const company: Security = [{ adminToken: [] }, { companyKey: [] }, { session: [] }];
const needsRole = (roles: string) =>
  `Needs the admin token, or a key of the company with the role ${roles}, as Authorization: Bearer …`;
/** `credential`: the variable in the examples. `security`: the possible credentials; `{}` means that no credential is needed. */
const accesses: Record<Access, { text: string; credential: string; security: Security }> = {
  public: { text: 'Needs no token.', credential: '', security: [] },
  'relay tokens': {
    text:
      'Needs a token of the rule: in every action of a chain, or with the event. ' +
      'The dry run of a chain shows more with the admin token or a key of the company as Authorization: Bearer …',
    credential: '',
    security: [{}, ...company],
  },
  'admin or company key': {
    text: 'Needs the admin token or a key of the company as Authorization: Bearer …',
    credential: '$RELAY_KEY',
    security: company,
  },
  'admin or author key': { text: needsRole('`author` or `manage`'), credential: '$RELAY_KEY', security: company },
  'admin or manage key': { text: needsRole('`manage`'), credential: '$RELAY_KEY', security: company },
  admin: { text: 'Needs the admin token as Authorization: Bearer …', credential: '$RELAY_ADMIN_TOKEN', security: operator },
  'admin or this machine': {
    text: 'Needs the admin token as Authorization: Bearer …, except from the same machine.',
    credential: '$RELAY_ADMIN_TOKEN',
    security: [{}, ...operator],
  },
};
export const companyVariable = '$COMPANY_ID';

/** An example of a request, for a shell. Each parameter of the path is a variable, such as `$CHAIN_ID`. */
function curlOf({ method, path, access, body, rawBody, examples = {} }: Route, url: string): string {
  const address = path.replaceAll(/:(\w+)/g, (_, name: string) => `$${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`);
  const credential = path.endsWith('/events/:relayId') && method === 'post' ? '$EVENT_TOKEN' : accesses[access].credential;
  const [example] = Object.values(examples);
  const data = example ? `'${JSON.stringify(example.value, undefined, 2).replaceAll("'", "'\\''")}'` : '@body.json';
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${url}${address}"`,
    ...(credential ? [`-H "Authorization: Bearer ${credential}"`] : []),
    ...(body || rawBody ? ["-H 'Content-Type: application/json'", `-d ${data}`] : []),
  ].join(' \\\n  ');
}

const pathOf = ({ path }: Route): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** Problems that every endpoint can have. */
const everywhere: readonly ProblemSlug[] = [
  'bad-request',
  'malformed-url',
  'method-not-allowed',
  'request-timeout',
  'misdirected',
  'headers-too-large',
  'internal',
];

/** The problems of this route, without the problems that every endpoint can have. */
function problemsOf(route: Route): ProblemSlug[] {
  const { problems = [], path, access, query, body, rawBody, answers } = route;
  const slugs: ProblemSlug[] = [...problems];
  // An unknown id in the path gets 404. But some PUT routes create the id, and senders of chains never get 404.
  const makes = route.method === 'put' && 201 in answers;
  if (path.includes(':') && access !== 'relay tokens' && !makes) slugs.push('not-found');
  if (body) slugs.push('invalid-body');
  if (body || rawBody) slugs.push('malformed-json', 'body-too-large', 'unsupported-media-type');
  if (query) slugs.push('invalid-query');
  if (access !== 'public') slugs.push('unauthorized', 'rate-limited');
  if (401 in answers || slugs.includes('unauthorized')) slugs.push('rate-limited'); // Too many 401 answers lead to a 429.
  if (access.startsWith('admin') && path.includes(':companyId')) slugs.push('forbidden');
  if (access.startsWith('admin') && route.method !== 'get') slugs.push('foreign-page');
  return problemTypeList.map(({ slug }) => slug).filter((slug) => slugs.includes(slug) && !everywhere.includes(slug));
}

function tagOf({ path }: Route): string {
  if (/^\/(companies|$)/.test(path)) return consoleTag[0];
  return (tags[path.split('/').findLast((segment) => segment in tags) ?? 'service'] ?? [''])[0];
}

function describe(route: Route, schemas: Schemas, url: string) {
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
  const problems = problemAnswers([...problemsOf(route), ...everywhere], schemas, route.onPage);
  const responses: Record<string, DescribedAnswer> = { ...Object.fromEntries(described), ...problems };
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    description: [...(description ? [description] : []), accesses[access].text].join('\n\n'),
    security: accesses[access].security,
    parameters: [...parameters('path', inPath), ...parameters('query', query?.shape), ...parameters('header', headers?.shape)],
    ...(body && { requestBody: { required: !z.safeParse(body, route.rawBody ? undefined : {}).success, content } }),
    responses,
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curlOf(route, url) }],
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

const header = (description: string): { description: string; schema: Schema } => ({ description, schema: { type: 'string' } });

const problemHeaders: Record<number, DescribedAnswer['headers']> = {
  401: { 'WWW-Authenticate': header('The required credential.') },
  405: { Allow: header('The allowed methods.') },
  429: { 'Retry-After': header('Seconds to wait.') },
  503: { 'Retry-After': header('Seconds to wait.') },
};

/** Returns the answers for the given problems, by status. */
function problemAnswers(slugs: ProblemSlug[], schemas: Schemas, onPage = false): Record<string, DescribedAnswer> {
  const schema = schemaOf(problemSchema, schemas);
  const answers: Record<string, DescribedAnswer> = {};
  for (const { status } of slugs.map((slug) => problemTypes[slug])) {
    const ofStatus = slugs.filter((slug) => problemTypes[slug].status === status);
    const description = ofStatus.map((slug) => problemLink({ slug, ...problemTypes[slug] })).join('; ');
    const examples = Object.fromEntries(ofStatus.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }]));
    const headers = problemHeaders[status] ?? {};
    const page: Content = onPage ? { 'text/html': { schema: { type: 'string' } } } : {};
    answers[status] = { description, headers, content: { ...page, 'application/problem+json': { schema, examples } } };
  }
  return answers;
}

function problemLink({ slug, title }: Pick<(typeof problemTypeList)[number], 'slug' | 'title'>) {
  return `[${title}](/problems/${slug})`;
}

export function problemExample({ slug, title, status, example }: (typeof problemTypeList)[number]) {
  return { type: `/problems/${slug}`, title, status, ...example };
}

/** Adds a schema with an id to `schemas`, and returns a reference to the schema. */
function schemaOf(schema: z.core.$ZodType, schemas: Schemas): Schema {
  // For a schema with an id, zod makes a reference only if the schema is inside another schema, such as an array.
  const { items = {}, $defs = {} } = z.toJSONSchema(z.array(schema), {
    // Describe each schema as a caller sees it: fields with a default are optional, and answers may have more fields.
    io: 'input',
    override: ({ jsonSchema }) => {
      // Remove the limits that zod adds to every integer.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // Regular expressions in Python have no Unicode classes.
      jsonSchema.pattern = jsonSchema.pattern?.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f');
    },
  });
  const inComponents = (part: unknown) => JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
  Object.assign(schemas, inComponents($defs));
  return inComponents(items);
}
