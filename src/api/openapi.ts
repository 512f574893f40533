/** The OpenAPI 3.1 document, made from the table of operations and from the zod schemas that the API itself reads with. */

import { z } from 'zod';
import emailSendEmail from '../../examples/email-send-email.json' with { type: 'json' };
import twoGroups from '../../examples/two-groups.json' with { type: 'json' };
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { version } from '../contract/version.js';
import {
  type Access,
  type Answer,
  namedSchemas,
  type Operation,
  operations,
  pathParameters,
  type Tag,
  tags,
} from './operations.js';
import { type ProblemSlug, problemTypeList, problemTypes } from './problem-types.js';

export type Schema = z.core.JSONSchema.BaseSchema;

/** The parts of OpenAPI that this document uses. */
export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: Tag; description: string }[];
  paths: Record<string, Partial<Record<Operation['method'], DescribedOperation>>>;
  components: {
    schemas: Record<string, Schema>;
    examples: Record<string, Example>;
    securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>;
  };
}
export interface DescribedOperation {
  operationId: string;
  tags: [Tag];
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

const chainExamples: Record<string, Example> = {
  'widen-then-alert': {
    summary: 'Send with growing radius and growing delays, then alert the manager if nobody was found.',
    value: widenThenAlert,
  },
  'email-send-email': { summary: 'An e-mail, then a send, then an e-mail, strictly in this order.', value: emailSendEmail },
  'two-groups': { summary: 'One group now, another half an hour later.', value: twoGroups },
};

/** @param url - where the API is. */
export function openApi(url: string): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method] = described(operation);
    paths[operation.path] = path;
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Relay', version, description },
    servers: [{ url }],
    tags: (Object.entries(tags) as [Tag, string][]).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: componentSchemas(),
      examples: Object.fromEntries(problemTypeList.map((type) => [type.slug, problemExample(type.slug)])),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token, `RELAY_ADMIN_TOKEN`." },
        companyKey: { type: 'http', scheme: 'bearer', description: 'A key of the company in the path, `rlk_…`.' },
      },
    },
  };
}

const securities: Record<Access, Record<string, []>[]> = {
  anybody: [],
  'relay tokens': [{}, { adminToken: [] }, { companyKey: [] }],
  'admin or company key': [{ adminToken: [] }, { companyKey: [] }],
  admin: [{ adminToken: [] }],
};

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

function described(operation: Operation): DescribedOperation {
  const { id, tag, summary, access, body, bodyOptional = false } = operation;
  const guarded = access === 'admin' || access === 'admin or company key';
  const problems = new Set<ProblemSlug>([...operation.problems, ...(guarded ? guards : []), ...everywhere]);
  const parameters = [
    ...[...operation.path.matchAll(/{(\w+)}/g)].flatMap(([, name = '']) => parameter('path', name, pathParameters[name])),
    ...Object.entries(operation.query ?? {}).flatMap(([name, schema]) => parameter('query', name, schema)),
    ...Object.entries(operation.headers ?? {}).flatMap(([name, schema]) => parameter('header', name, schema)),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(operation.description !== undefined && { description: operation.description }),
    security: securities[access],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: {
          'application/json': { schema: schemaOf(body), ...(body === namedSchemas.ChainRequest && { examples: chainExamples }) },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(operation.answers).map(([status, answer]) => [status, describedAnswer(answer)])),
      ...problemAnswers([...problems]),
    },
  };
}

function parameter(place: Parameter['in'], name: string, schema: z.ZodType | undefined): Parameter {
  if (!schema) throw new TypeError(`${name} is in a path, but not described in pathParameters`);
  const { description, ...shape } = schemaOf(schema);
  return {
    name,
    in: place,
    required: !schema.safeParse(undefined).success,
    ...(description !== undefined && { description }),
    schema: shape,
  };
}

function describedAnswer({ description, body, mediaType, headers }: Answer): DescribedAnswer {
  return {
    description,
    ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text)])) }),
    ...(body && { content: { 'application/json': { schema: schemaOf(body) } } }),
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

function problemAnswers(slugs: ProblemSlug[]): Record<string, DescribedAnswer> {
  const answers: Record<string, DescribedAnswer> = {};
  for (const status of new Set(slugs.map((slug) => problemTypes[slug].status))) {
    const ofStatus = slugs.filter((slug) => problemTypes[slug].status === status);
    const headers = problemHeaders[status];
    answers[status] = {
      description: ofStatus.map((slug) => `${problemTypes[slug].title} (\`/problems/${slug}\`)`).join('; '),
      ...(headers && { headers }),
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
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

/** The schema as a component's reference, or written out with references in it. */
function schemaOf(schema: z.ZodType): Schema {
  const name = Object.entries(namedSchemas).find(([, named]) => named === schema)?.[0];
  return name === undefined ? (convert({ Inline: schema }).Inline ?? {}) : { $ref: reference(name) };
}

function componentSchemas(): Record<string, Schema> {
  const converted = convert({});
  return Object.fromEntries(Object.keys(namedSchemas).map((name) => [name, converted[name] ?? {}]));
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** JSON Schemas of these and of the named ones, which refer to each other. */
function convert(more: Record<string, z.ZodType>): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ ...more, ...namedSchemas })) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: reference,
    // As callers write and read them: defaults may be left out, and answers may get further fields.
    io: 'input',
    override: ({ jsonSchema }) => {
      // What zod adds of its own: the bounds of exact integers, and how it checks a date.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]));
}
