/** OpenTelemetry traces of requests and effects. Without an endpoint, OpenTelemetry is not loaded. */

import type { Attributes } from '@opentelemetry/api';
import packageJson from '../../package.json' with { type: 'json' };
import { Shares } from './shares.js';
import type { Log } from './telemetry.js';
import { reasonOf } from './temporal.js';

export interface Span {
  traceparent: string; // W3C Trace Context for child spans, with the sampling flag
  /** @param failed - one word that names the error, because a message could contain personal data. */
  end(facts: { name?: string; attributes: Attributes; failed?: string }): void;
}

export interface Tracing {
  /** `parent` is a `traceparent`; an invalid value is ignored. `begun` is in Unix milliseconds; default: now. */
  begin(name: string, options: { kind: 'server' | 'consumer'; parent?: string; begun?: number }): Span;
  close(): Promise<void>;
}

const closeMs = 3_000;
const saidEveryMs = 60_000;

/** Reads OpenTelemetry's environment variables. @returns undefined if no endpoint is set. */
export async function startTracing(log: Log): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
  if (!OTEL_EXPORTER_OTLP_ENDPOINT && !OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return undefined;
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } = await import('@opentelemetry/api');
  const { parseTraceParent, setGlobalErrorHandler } = await import('@opentelemetry/core');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');

  const said = new Shares(1, saidEveryMs);
  setGlobalErrorHandler((error) => {
    if (said.take()) log.warn(`traces cannot be exported: ${reasonOf(error)}`);
  });
  const own = resourceFromAttributes({ 'service.name': 'relay', 'service.version': packageJson.version });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('relay', packageJson.version);
  const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER };
  return {
    begin(name, { kind, parent, begun }) {
      const above = parent === undefined ? null : parseTraceParent(parent);
      const context = above ? trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true }) : ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: kinds[kind], startTime: begun }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
        end({ name, attributes, failed }) {
          if (name !== undefined) span.updateName(name);
          span.setAttributes(attributes);
          if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failed });
          span.end();
        },
      };
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closeMs).unref());
      await Promise.race([provider.shutdown(), late]);
    },
  };
}
