/** Traces: a request and the effects of its chain, as a collector receives them over OTLP. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, it } from 'node:test';
import { z } from 'zod';
import { listen } from '../../../src/service/server.js';
import { startTracing } from '../../../src/service/tracing.js';
import { email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const valueSchema = z.object({ stringValue: z.string().optional(), intValue: z.coerce.number().optional() });
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  name: z.string(),
  attributes: z.array(z.object({ key: z.string(), value: valueSchema })),
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});
const exportSchema = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) })),
});
type Span = z.infer<typeof spanSchema>;

const spans: Span[] = [];
const collector = createServer(async (request, response) => {
  const { resourceSpans } = exportSchema.parse(await json(request));
  if (request.url === '/v1/traces')
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
  response.setHeader('Content-Type', 'application/json').end('{}');
});
const address = await listen(collector, { host: '127.0.0.1', port: 0 });
after(() => void collector.closeAllConnections());
after(() => void collector.close());

const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${address}`, OTEL_BSP_SCHEDULE_DELAY: '50' };
Object.assign(process.env, variables);
const stack = await startStack({ tracing: startTracing });
for (const name of Object.keys(variables)) delete process.env[name];

const company = await stack.company();
const factOf = ({ attributes }: Span, key: string) => {
  const { stringValue, intValue } = attributes.find((attribute) => attribute.key === key)?.value ?? {};
  return stringValue ?? intValue;
};
/** Waits until the chain has this number of spans. */
const spansOf = (chainId: string, count: number) =>
  eventually(`${count} spans of ${chainId}`, async () => {
    const found = spans.filter((span) => factOf(span, 'relay.chain_id') === chainId);
    return found.length >= count ? found : new Unmet(spans.map(({ name }) => name));
  });

it("a request's trace includes the effects of its chain, even delayed and failed ones", async () => {
  const assignment = await stack.assignment();
  const actions = [send(assignment, { groupId: '501' }), udf('T'), email(['a@x.example']), udf('T', { delayInSeconds: '1' })];
  const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
  const response = await company.post([...actions, send('404404', { groupId: '501' })], { traceparent });
  const { chainId } = (await response.json()) as { chainId: string };
  const found = await spansOf(chainId, 6);
  const request = found.find(({ name }) => name === 'POST /co/:companyId/relay') ?? assert.fail('the request has no span');
  assert.deepEqual([request.traceId, request.parentSpanId], [caller.traceId, caller.spanId]);
  const effects = found.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  assert.deepEqual(
    effects
      .map((span) => [factOf(span, 'relay.action_index'), span.name, factOf(span, 'relay.result')])
      .sort(([a], [b]) => Number(a) - Number(b)),
    [
      [0, 'sendAssignment', 'ok'],
      [1, 'updateUdf', 'ok'],
      [2, 'sendEmail', 'ok'],
      [3, 'updateUdf', 'ok'],
      [4, 'sendAssignment', 'PlatformError'],
    ],
  );
  assert(effects.every(({ traceId }) => traceId === caller.traceId));
  assert.deepEqual(effects.find(({ status }) => status.code === 2)?.status.message, 'PlatformError');
  await company.steer(chainId, 'skip', 4);
  await company.ended(chainId);
});

it('no span says what a company sent, or who sent it', () =>
  assert.doesNotMatch(JSON.stringify(spans), new RegExp(`x\\.example|${company.relayAccessToken}|Subject`)));

it('a process without an endpoint loads no tracing code', () => {
  /** Returns whether tracing is on, and the number of loaded OpenTelemetry files, except its API, which prom-client loads. */
  const loadedBy = (env: Record<string, string>, files: string[]) => {
    const script = `
      import { createRequire } from 'node:module';
      const base = ${JSON.stringify(new URL('../../../src/', import.meta.url).href)};
      for (const file of ${JSON.stringify(files)}) await import(base + file);
      const { startTracing } = await import(base + 'service/tracing.js');
      const tracing = await startTracing();
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /@opentelemetry\\/(?!api\\/)/.test(file));
      console.log(JSON.stringify([tracing !== undefined, loaded.length]));
      process.exit();`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env });
    return z.tuple([z.boolean(), z.number()]).parse(JSON.parse(said));
  };
  assert.deepEqual(loadedBy({}, ['api/app.js', 'worker/worker.js', 'process/process.js']), [false, 0]);
  const [isOn, files] = loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, []);
  assert(isOn && files > 10, `${files} files would have been seen`);
});
