import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { apiRoutes, createApi } from '../../src/api/app.js';
import { Limits } from '../../src/api/limits.js';
import { type OpenApi, openApi } from '../../src/api/openapi.js';
import type { ApiOptions } from '../../src/api/route.js';
import { readRequest } from '../../src/chain/request.js';
import { createConnectors } from '../../src/connectors/connectors.js';
import { problemTypeList } from '../../src/contract/problem-types.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';
import { createStore } from '../../src/store/store.js';
import { openEmptied } from '../store/emptied.js';

const url = 'http://127.0.0.1:8080';
/** The whole API; nothing is asked of what it works with. */
const store = createStore(await openEmptied());
const connectors = createConnectors({ allowPrivateNetworks: false, mailFrom: 'relay@relay.example' });
after(() => Promise.all([store.close(), connectors.close()]));
const log = createLog('error');
const options: ApiOptions = {
  store,
  connectors,
  log,
  client: new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }),
  metrics: new Metrics(),
  limits: new Limits({ perMinute: 600, log }),
  adminToken: 'the-admin-token',
  links: { api: url },
  taskQueue: 'relay',
  eager: false,
  retryBudgetSeconds: 1,
  attentionWindowSeconds: 1,
};
const app = createApi(options);
const document = openApi(url, apiRoutes(options));

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
    assert.ok(valid, JSON.stringify(errors, undefined, 1));
    assert.match(document.openapi, /^3\.1\./);
  });

  it('says that what the process has counted is for the admin, and for the machine that it runs on', () => {
    const { security } = endpoints().find(({ path }) => path === '/metrics')?.operation ?? assert.fail();
    assert.deepEqual(security, [{}, { adminToken: [] }, { session: [] }]);
  });

  it('describes every route of the API, and no other', () => {
    const routes = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    assert.deepEqual(
      endpoints()
        .map(({ name }) => name)
        .sort(),
      [...new Set(routes)].sort(),
    );
  });

  it('gives every endpoint an id of its own', () => {
    const ids = endpoints().map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('has every type of problem among the answers', () => {
    const named = new Set(
      endpoints().flatMap(({ operation }) =>
        Object.values(operation.responses).flatMap(({ content }) =>
          Object.keys(content?.['application/problem+json']?.examples ?? {}),
        ),
      ),
    );
    assert.deepEqual([...named].sort(), problemTypeList.map(({ slug }) => slug).sort());
  });

  it('tells the fields of each action, and which are required', () => {
    const required = (name: string) =>
      document.components.schemas[name]?.required?.filter((field) => !/^relay|^action$/.test(field));
    assert.deepEqual(required('platform_sendAssignment'), ['platformAssignmentId']);
    assert.deepEqual(required('sendEmails'), ['emails', 'subject', 'body', 'bodyHtml']);
    assert.deepEqual(required('ticket_updateUDF'), ['externalSystemTicketId', 'cfName', 'cfValue']);
  });

  for (const name of ['widen-then-alert', 'email-send-email', 'two-groups']) {
    it(`has the example ${name}, which is a valid chain by its own schema and by the API`, async () => {
      const body = document.paths['/co/{companyId}/relay']?.post?.requestBody?.content['application/json'];
      const example = z.object({ value: z.array(z.record(z.string(), z.unknown())) }).parse(body?.examples?.[name]).value;
      assert.deepEqual(example, JSON.parse(readFileSync(new URL(`../../../examples/${name}.json`, import.meta.url), 'utf8')));
      const read = readRequest(example);
      assert.ok(read.ok);
      assert.deepEqual(read.warnings, []);
      const schema = z.fromJSONSchema({ $ref: '#/$defs/ChainRequest', $defs: definitions() });
      schema.parse(example);
      assert.ok(!schema.safeParse(example.map(({ action, ...rest }) => rest)).success);
    });
  }

  it('is what /openapi.json answers', async () => {
    const response = await app.request('/openapi.json');
    assert.equal(response.headers.get('Content-Type'), 'application/json');
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(document)));
  });

  it('shows no token but the one of the demo', () => {
    const tokens = JSON.stringify(document).match(/"relayAccessToken":"[^"]*"/g) ?? [];
    assert.deepEqual([...new Set(tokens)], ['"relayAccessToken":"<RELAY_ACCESS_TOKEN>"']);
  });
});

describe('the page at /docs', () => {
  let text: string;
  let headers: Headers;
  before(async () => {
    const response = await app.request('/docs');
    assert.equal(response.status, 200);
    headers = response.headers;
    text = await response.text();
  });

  it('is HTML that may load nothing and run nothing', () => {
    assert.match(headers.get('Content-Type') ?? '', /^text\/html/);
    assert.match(headers.get('Content-Security-Policy') ?? '', /^default-src 'none'; style-src 'sha256-[^']+'; /);
    assert.doesNotMatch(text, /<script|<iframe|<img| on\w+="| style="|@import|url\(/i);
    assert.deepEqual(text.match(/(?:href|src)="(?!#|\/|data:,)[^"]*"/g), null);
  });

  it('has every endpoint, schema, problem and example', () => {
    for (const { path, operation } of endpoints()) {
      assert.ok(text.includes(`<section id="${operation.operationId}">`), operation.operationId);
      assert.ok(text.includes(path), path);
    }
    for (const name of Object.keys(document.components.schemas)) assert.ok(text.includes(`<section id="schema-${name}">`), name);
    for (const { slug } of problemTypeList) assert.ok(text.includes(`href="/problems/${slug}"`), slug);
    assert.equal(text.match(/<summary>Example/g)?.length, 3);
    assert.ok(text.includes('Nobody yet: widen to 25 miles'));
  });

  it('leads nowhere in vain', async () => {
    const links = new Set([...text.matchAll(/href="([#/][^"]*)"/g)].map(([, link = '']) => link));
    for (const link of links) {
      if (link.startsWith('#')) assert.ok(text.includes(` id="${link.slice(1)}"`), link);
      else assert.equal((await app.request(link)).status, 200, link);
    }
  });

  it('is escaped', () => {
    assert.ok(text.includes('&lt;property&gt;==&lt;value&gt;'));
    assert.doesNotMatch(text, /<property>|\[object |undefined/);
  });
});

function endpoints() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
  );
}

/** The document's schemas as JSON Schema wants them. */
function definitions(): OpenApi['components']['schemas'] {
  const text = JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/');
  return z.record(z.string(), z.custom<OpenApi['components']['schemas'][string]>()).parse(JSON.parse(text));
}
