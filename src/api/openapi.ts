/** The OpenAPI 3.1 document, made from what the routes say of themselves and from the zod schemas that the API itself reads with. */

import { z } from 'zod';
import { companyIdPattern, relayIdPattern } from '../chain/ids.js';
import { steeringVerbs } from '../chain/steering-verb.js';
import { problemSchema } from '../contract/problem.js';
import { type ProblemSlug, problemTypeList, problemTypes } from '../contract/problem-types.js';
import { version } from '../contract/version.js';
import type { Access } from './authentication.js';
import type { Answer, RouteDescription } from './route.js';

export type Schema = z.core.JSONSchema.BaseSchema;

/** The parts of OpenAPI that this document uses. */
export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Partial<Record<RouteDescription['method'], DescribedOperation>>>;
  components: {
    schemas: Record<string, Schema>;
    examples: Record<string, Example>;
    securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>;
  };
}
export interface DescribedOperation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  /** Alternatives; `{}` stands for none. */
  security: Record<string, []>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, DescribedAnswer>;
}
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}
export interface DescribedAnswer {
  description: string;
  headers?: Record<string, { description: string; schema: Schema }>;
  content?: Content;
}
type Content = Record<string, { schema?: Schema; examples?: Record<string, Example | { $ref: string }> }>;
interface Example {
  summary: string;
  value: unknown;
}

const description = `Takes an ordered list of actions from a webhook, runs them in order, some delayed, some conditional, and tells somebody when one fails.

A chain authenticates itself: every action carries \`relayId\` and \`relayAccessToken\` of its rule in the body. Everything else needs \`Authorization: Bearer …\` with the admin token, or with a key of the company where that is enough.

Errors are problem documents (RFC 9457, \`application/problem+json\`); \`type\` is the path of a page that says what to do. Times are ISO 8601 in UTC.`;

/** By the last part of a path that is named here; what is under none of them is of the service. */
const tags: Record<string, [name: string, description: string]> = {
  relay: ['Relay', 'Where webhooks send their chains.'],
  chains: ['Chains', 'How a chain stands, and the ways to steer it.'],
  rejected: [
    'Rejected requests',
    'Requests that were refused although their sender is known: kept without their tokens, to be sent again once what was wrong is put right.',
  ],
  companies: ['Companies', 'Who uses the relay, and with which settings.'],
  rules: ['Rules', 'What chains are run under: who is told of a failure, and what happens then.'],
  tokens: ['Tokens', 'The access tokens of a rule.'],
  keys: ['Keys', 'Keys with which a company reads and steers its own chains.'],
  audit: ['Audit', 'Who changed or steered what.'],
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
    .enum(steeringVerbs)
    .describe(
      '`retry` and `skip` an action that needs attention (`retry` also one that failed or is partly failed), `runNow` and `reschedule` one that is scheduled, `cancel` one that has not ended.',
    ),
  bulkId: z.string().describe('From the answer to the confirmation.'),
  rejectedId: z.string().describe('The rejected request.'),
  tokenId: z.string().describe('The token; not the token itself.'),
  keyId: z.string().describe('The key; not the key itself.'),
  slug: z.string().describe("The last segment of a problem's `type`."),
};

/** @param url - where the API is. */
export function openApi(url: string, routes: readonly RouteDescription[]): OpenApi {
  const schemas: Schemas = {};
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: described(route, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Relay', version, description },
    servers: [{ url }],
    tags: Object.values(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      examples: Object.fromEntries(problemTypeList.map((type) => [type.slug, problemExample(type.slug)])),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token, `RELAY_ADMIN_TOKEN`." },
        companyKey: { type: 'http', scheme: 'bearer', description: 'A key of the company in the path, `rlk_…`.' },
      },
    },
  };
}

/** By the ids that the schemas have in their metadata. */
type Schemas = Record<string, Schema>;

const securities: Record<Access, Record<string, []>[]> = {
  public: [],
  'relay tokens': [{}, { adminToken: [] }, { companyKey: [] }],
  'admin or company key': [{ adminToken: [] }, { companyKey: [] }],
  admin: [{ adminToken: [] }],
};

const readsBody = ['malformed-json', 'body-too-large', 'unsupported-media-type'] as const satisfies ProblemSlug[];
const guards = ['unauthorized', 'rate-limited'] as const satisfies ProblemSlug[];
/** What any endpoint may answer with. `method-not-allowed` is an answer of a path. */
const everywhere = [
  'bad-request',
  'malformed-url',
  'method-not-allowed',
  'request-timeout',
  'headers-too-large',
  'internal',
] as const satisfies ProblemSlug[];

function described(route: RouteDescription, schemas: Schemas): DescribedOperation {
  const { id, path, summary, description, access, query, headers, body = route.rawBody, answers, problems = [] } = route;
  const segments = path.split('/');
  const [tag] = tags[segments.findLast((segment) => segment in tags) ?? 'service'] ?? [''];
  const parameters = [
    ...segments
      .filter((segment) => segment.startsWith(':'))
      .map((segment) => parameter('path', segment.slice(1), pathParameters[segment.slice(1)], schemas)),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => parameter('query', name, schema, schemas)),
    ...Object.entries(headers?.shape ?? {}).map(([name, schema]) => parameter('header', name, schema, schemas)),
  ];
  const slugs = new Set<ProblemSlug>([
    ...problems,
    ...(route.body ? (['invalid-body'] as const) : []),
    ...(body ? readsBody : []),
    ...(query ? (['invalid-query'] as const) : []),
    ...(access === 'public' ? [] : guards),
    ...everywhere,
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: securities[access],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !route.bodyOptional,
        content: {
          'application/json': { schema: schemaOf(body, schemas), ...(route.examples && { examples: route.examples }) },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, describedAnswer(answer, schemas)])),
      ...problemAnswers([...slugs], schemas),
    },
  };
}

function parameter(place: Parameter['in'], name: string, schema: z.core.$ZodType | undefined, schemas: Schemas): Parameter {
  if (!schema) throw new TypeError(`${name} is in a path, but not described in pathParameters`);
  const { description, ...shape } = schemaOf(schema, schemas);
  return {
    name,
    in: place,
    required: !z.safeParse(schema, undefined).success,
    ...(description !== undefined && { description }),
    schema: shape,
  };
}

function describedAnswer({ description, body, mediaType, headers }: Answer, schemas: Schemas): DescribedAnswer {
  return {
    description,
    ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text)])) }),
    ...(body && { content: { 'application/json': { schema: schemaOf(body, schemas) } } }),
    ...(mediaType !== undefined && { content: { [mediaType]: { schema: { type: 'string' } } } }),
  };
}

function header(description: string): { description: string; schema: Schema } {
  return { description, schema: { type: 'string' } };
}

/** What comes with some statuses. */
const problemHeaders: Record<number, Record<string, { description: string; schema: Schema }>> = {
  401: { 'WWW-Authenticate': header('What is needed.') },
  405: { Allow: header('The methods that are possible.') },
  429: { 'Retry-After': header('Seconds to wait.') },
  503: { 'Retry-After': header('Seconds to wait.') },
};

function problemAnswers(slugs: ProblemSlug[], schemas: Schemas): Record<string, DescribedAnswer> {
  const answers: Record<string, DescribedAnswer> = {};
  for (const status of new Set(slugs.map((slug) => problemTypes[slug].status))) {
    const ofStatus = slugs.filter((slug) => problemTypes[slug].status === status);
    const headers = problemHeaders[status];
    answers[status] = {
      description: ofStatus.map((slug) => `${problemTypes[slug].title} (\`/problems/${slug}\`)`).join('; '),
      ...(headers && { headers }),
      content: {
        'application/problem+json': {
          schema: schemaOf(problemSchema, schemas),
          examples: Object.fromEntries(ofStatus.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }])),
        },
      },
    };
  }
  return answers;
}

function problemExample(slug: ProblemSlug): Example {
  const { title, status, example } = problemTypes[slug];
  return { summary: title, value: { type: `/problems/${slug}`, title, status, ...example } };
}

/** The JSON Schema. Those in it that have an id of their own are added to `schemas`, and referred to. */
function schemaOf(schema: z.core.$ZodType, schemas: Schemas): Schema {
  // Inside an array, a schema with an id is a reference like any other.
  const { items = {}, $defs = {} } = z.toJSONSchema(z.array(schema), {
    // As callers write and read them: defaults may be left out, and answers may get further fields.
    io: 'input',
    override: ({ jsonSchema }) => {
      // What zod adds of its own: the bounds of exact integers, and how it checks a date.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  const inComponents = (part: unknown) => JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
  Object.assign(schemas, inComponents($defs));
  return inComponents(items);
}
