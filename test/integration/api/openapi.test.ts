import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { apiRoutes, createApi } from '../../../src/api/app.js';
import { type OpenApi, openApi } from '../../../src/api/openapi.js';
import { readRequest } from '../../../src/chain/request.js';
import { problemTypeList } from '../../../src/contract/problem-types.js';
import { wholeApi } from '../../api/whole-api.js';

const url = 'http://127.0.0.1:8080';
const options = await wholeApi({ links: { api: url } });
after(() => options.close());
const app = createApi(options);
const document = openApi(url, apiRoutes(options));

/** The allowed callers of each route. */
const callers = {
  'relay tokens': [
    'post /co/:companyId/events/:relayId',
    'post /co/:companyId/events/:relayId/:token',
    'post /co/:companyId/relay',
  ],
  'admin or company key': [
    'get /admin/companies/:companyId/rules/:relayId/door',
    'get /admin/companies/:companyId/rules/:relayId/draft',
    'get /admin/companies/:companyId/rules/:relayId/events',
    'get /admin/companies/:companyId/rules/:relayId/events/:eventId',
    'get /admin/companies/:companyId/rules/:relayId/versions',
    'get /admin/companies/:companyId/rules/:relayId/versions/:version',
    'get /admin/companies/:companyId/rules/:relayId/versions/:version/diff',
    'get /co/:companyId',
    'get /co/:companyId/assignments/:assignmentId',
    'get /co/:companyId/causes',
    'get /co/:companyId/causes/:causeId',
    'get /co/:companyId/chains',
    'get /co/:companyId/chains/:chainId',
    'get /co/:companyId/chains/:chainId/actions/:index/fields',
    'get /co/:companyId/chains/:chainId/actions/:index/notice',
    'get /co/:companyId/chains/bulk/:bulkId',
    'get /co/:companyId/chains/compose',
    'get /co/:companyId/chains/compose/names',
    'get /co/:companyId/chains/counts',
    'get /co/:companyId/events',
    'get /co/:companyId/export/chains',
    'get /co/:companyId/export/events',
    'get /co/:companyId/health',
    'get /co/:companyId/rejected',
    'get /co/:companyId/rejected/:rejectedId',
    'get /co/:companyId/rules/:relayId/health',
    'get /co/:companyId/search',
    'post /admin/companies/:companyId/rules/:relayId/events/:eventId/resend',
    'post /co/:companyId/causes/:causeId/release',
    'post /co/:companyId/causes/:causeId/silence',
    'post /co/:companyId/causes/:causeId/take',
    'post /co/:companyId/chains/:chainId/actions/:index/:verb',
    'post /co/:companyId/chains/:chainId/actions/:index/mend',
    'post /co/:companyId/chains/:chainId/cancel',
    'post /co/:companyId/chains/bulk',
    'post /co/:companyId/chains/compose',
    'post /co/:companyId/rejected/:rejectedId/drop',
    'post /co/:companyId/rejected/:rejectedId/resend',
  ],
  admin: [
    'delete /admin/companies/:companyId',
    'delete /admin/tokens/:adminTokenId',
    'get /admin/audit',
    'get /admin/companies',
    'get /admin/encryption',
    'get /admin/tokens',
    'get /chains',
    'get /chains/bulk/:bulkId',
    'post /admin/companies/:companyId/erase',
    'post /admin/encryption/rotate',
    'post /admin/tokens',
    'post /chains/bulk',
    'post /codec/decode',
    'post /codec/encode',
    'put /admin/companies/:companyId',
  ],
  'admin or author key': [
    'get /admin/companies/:companyId/rules',
    'get /admin/companies/:companyId/rules/:relayId',
    'get /admin/companies/:companyId/rules/:relayId/tokens',
    'post /admin/companies/:companyId/rules',
    'post /admin/companies/:companyId/rules/:relayId/draft/from-lists',
    'post /admin/companies/:companyId/rules/:relayId/event-tokens',
    'post /admin/companies/:companyId/rules/:relayId/events',
    'post /admin/companies/:companyId/rules/:relayId/publish',
    'post /admin/companies/:companyId/rules/:relayId/tokens',
    'post /admin/companies/:companyId/rules/:relayId/try',
    'post /admin/companies/:companyId/rules/:relayId/versions/:version/publish',
    'put /admin/companies/:companyId/rules/:relayId/door',
    'put /admin/companies/:companyId/rules/:relayId/draft',
    'put /admin/companies/:companyId/rules/:relayId/shadow',
  ],
  'admin or manage key': [
    'delete /admin/companies/:companyId/keys/:keyId',
    'delete /admin/companies/:companyId/pause',
    'delete /admin/companies/:companyId/people/:personId',
    'delete /admin/companies/:companyId/rules/:relayId',
    'delete /admin/companies/:companyId/rules/:relayId/tokens/:tokenId',
    'get /admin/companies/:companyId',
    'get /admin/companies/:companyId/audit',
    'get /admin/companies/:companyId/contacts',
    'get /admin/companies/:companyId/keys',
    'get /admin/companies/:companyId/pause',
    'get /admin/companies/:companyId/people',
    'get /co/:companyId/export/audit',
    'patch /admin/companies/:companyId',
    'patch /admin/companies/:companyId/rules/:relayId',
    'post /admin/companies/:companyId/check',
    'post /admin/companies/:companyId/keys',
    'post /admin/companies/:companyId/notices/test',
    'put /admin/companies/:companyId/pause',
    'put /admin/companies/:companyId/people',
  ],
  public: [
    'delete /session',
    'get /',
    'get /assets/:file',
    'get /companies',
    'get /companies/*',
    'get /companies/:companyId',
    'get /companies/:companyId/:page',
    'get /companies/:companyId/:page/:item',
    'get /confirm/:link',
    'get /docs',
    'get /healthz',
    'get /hold/:companyId/:chainId/:index',
    'get /hold/:link',
    'get /openapi.json',
    'get /problems/:slug',
    'get /readyz',
    'get /schemas/rule.json',
    'get /session',
    'get /sign-in',
    'get /sign-in/link/:link',
    'get /sign-in/openid',
    'get /sign-in/openid/callback',
    'get /web-ui/*',
    'post /confirm/:link',
    'post /hold/:companyId/:chainId/:index',
    'post /session',
    'post /sign-in',
    'post /sign-in/link/:link',
    'post /sign-in/mail',
    'post /sign-out',
  ],
  'admin or this machine': ['get /metrics'],
};

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
    assert.ok(valid, JSON.stringify(errors, undefined, 1));
    assert.match(document.openapi, /^3\.1\./);
  });

  it("says that process metrics are for the admin and for the process's own machine", () => {
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

  it("lists each route's callers: a new route must be added here", () => {
    const named: Record<string, string[]> = {};
    for (const { access, method, path } of apiRoutes(options)) named[access] = [...(named[access] ?? []), `${method} ${path}`];
    for (const routes of Object.values(named)) routes.sort();
    assert.deepEqual(named, callers);
  });

  it('gives every endpoint its own id', () => {
    const ids = endpoints().map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('has every problem type among the answers', () => {
    const named = new Set(
      endpoints().flatMap(({ operation }) =>
        Object.values(operation.responses).flatMap(({ content }) =>
          Object.keys(content?.['application/problem+json']?.examples ?? {}),
        ),
      ),
    );
    assert.deepEqual([...named].sort(), problemTypeList.map(({ slug }) => slug).sort());
  });

  it('says which routes answer errors with a page, and that too many failed authentications are refused', () => {
    const contents = (operation: string, status: number) =>
      Object.keys(
        endpoints().find(({ operation: { operationId } }) => operationId === operation)?.operation.responses[status]?.content ??
          {},
      );
    for (const operation of ['signIn', 'decideHold'])
      for (const status of [403, 429])
        assert.deepEqual(contents(operation, status), ['text/html', 'application/problem+json'], `${operation} ${status}`);
    assert.deepEqual(contents('openHold', 429), ['text/html', 'application/problem+json']);
    assert.deepEqual(contents('getSession', 429), ['application/problem+json']);
  });

  it('describes the fields of each action, and marks the required fields', () => {
    const required = (name: string) =>
      document.components.schemas[name]?.required?.filter((field) => !/^relay|^action$/.test(field));
    assert.deepEqual(required('platform_sendAssignment'), ['platformAssignmentId']);
    assert.deepEqual(required('sendEmails'), ['emails', 'subject', 'body', 'bodyHtml']);
    assert.deepEqual(required('ticket_updateUDF'), ['externalSystemTicketId', 'cfName', 'cfValue']);
  });

  for (const name of ['widen-then-alert', 'email-send-email', 'set-field', 'two-groups']) {
    it(`has the example ${name}, a valid chain by its own schema and by the API`, async () => {
      const body = document.paths['/co/{companyId}/relay']?.post?.requestBody?.content['application/json'];
      const example = z.object({ value: z.array(z.record(z.string(), z.unknown())) }).parse(body?.examples?.[name]).value;
      assert.deepEqual(example, JSON.parse(readFileSync(new URL(`../../../../examples/${name}.json`, import.meta.url), 'utf8')));
      const read = readRequest(example);
      assert.ok(read.ok);
      assert.deepEqual(read.warnings, []);
      const schema = z.fromJSONSchema({ $ref: '#/$defs/ChainRequest', $defs: definitions() });
      schema.parse(example);
      assert.ok(!schema.safeParse(example.map(({ action, ...rest }) => rest)).success);
    });
  }

  it('is the answer of /openapi.json', async () => {
    const response = await app.request('/openapi.json');
    assert.equal(response.headers.get('Content-Type'), 'application/json');
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(document)));
  });

  it("shows no token except the demo's", () => {
    const tokens = JSON.stringify(document).match(/"relayAccessToken":"[^"]*"/g) ?? [];
    assert.deepEqual([...new Set(tokens)], ['"relayAccessToken":"<RELAY_ACCESS_TOKEN>"']);
  });
});

/** docs.test.ts tests the page in a browser. */
describe('the page at /docs', () => {
  it('loads its script and the document from the relay only, with the company of the address', async () => {
    const response = await app.request('/docs?companyId=acme');
    const policy = response.headers.get('Content-Security-Policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self';/);
    const text = await response.text();
    assert.doesNotMatch(text, /<script>|<iframe| on\w+="|https?:/i);
    const [script = ''] = /\/assets\/docs-\w+\.js/.exec(text) ?? [];
    assert.equal((await app.request(script)).status, 200);
    assert.ok(text.includes('spec-url="/openapi.json?companyId=acme"'));
    assert.equal((await app.request(`/docs?companyId=${encodeURIComponent('"><script>')}`)).status, 400);
  });

  it('shows a curl example of every request, with the address of the company and the right credential', async () => {
    const asked = await (await app.request('/openapi.json?companyId=acme')).text();
    const curl = (id: string, text = asked) => {
      const all = Object.values<Record<string, { operationId: string; 'x-codeSamples': { source: string }[] }>>(
        JSON.parse(text).paths,
      );
      return all.flatMap((path) => Object.values(path)).find(({ operationId }) => operationId === id)?.['x-codeSamples'][0]
        ?.source;
    };
    const bearer = (name: string) => ` \\\n  -H "Authorization: Bearer $${name}"`;
    assert.equal(curl('getChain'), `curl "${url}/co/acme/chains/$CHAIN_ID"${bearer('RELAY_KEY')}`);
    assert.equal(
      curl('getChain', JSON.stringify(document)),
      `curl "${url}/co/$COMPANY_ID/chains/$CHAIN_ID"${bearer('RELAY_KEY')}`,
    );
    assert.match(
      curl('pauseCompany') ?? '',
      /^curl -X PUT .*\n {2}-H 'Content-Type: application\/json' \\\n {2}-d @body\.json$/s,
    );
    assert.match(curl('submitEvent') ?? '', /Bearer \$EVENT_TOKEN"/);
    assert.match(curl('listCompanies') ?? '', /Bearer \$RELAY_ADMIN_TOKEN"/);
    const chain = curl('submitChain') ?? '';
    assert.doesNotMatch(chain, /Bearer/);
    assert.match(chain, /^curl -X POST "[^"]*\/co\/acme\/relay" .* -d '\[\n.*<RELAY_ACCESS_TOKEN>.*\]'$/s);
  });

  it('has a chapter with a link to the page of every problem type', async () => {
    const { description } = document.tags.find(({ name }) => name === 'Problems') ?? assert.fail();
    for (const { slug } of problemTypeList) {
      assert.ok(description.includes(`](/problems/${slug})`), slug);
      assert.equal((await app.request(`/problems/${slug}`)).status, 200);
    }
    assert.equal(description.split('\n').length, problemTypeList.length + 2);
    for (const row of description.split('\n')) assert.equal(row.split('|').length, 5, row);
  });
});

function endpoints() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
  );
}

/** The document's schemas as plain JSON Schema. */
function definitions(): OpenApi['components']['schemas'] {
  const text = JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/');
  return z.record(z.string(), z.custom<OpenApi['components']['schemas'][string]>()).parse(JSON.parse(text));
}
