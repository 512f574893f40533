/**
 * Traces for OpenTelemetry: a request, and under it the effects of its chain. The context travels in the chain's input, so that
 * workflows carry it and do nothing for it. Where no endpoint is set, nothing of OpenTelemetry is loaded.
 */

import type { Attributes } from '@opentelemetry/api';
import packageJson from '../../package.json' with { type: 'json' };
import { Shares } from './shares.js';
import type { Log } from './telemetry.js';
import { reasonOf } from './temporal.js';

export interface Span {
  /** Of W3C's Trace Context, for what follows from it; says too whether it is sampled. */
  traceparent: string;
  /** @param failed - in a word; a message may quote what somebody sent. */
  end(facts: { name?: string; attributes: Attributes; failed?: string }): void;
}

export interface Tracing {
  /** `parent`: a `traceparent`, from anywhere; `begun`: Unix milliseconds, if not now. */
  begin(name: string, options: { kind: 'server' | 'consumer'; parent?: string; begun?: number }): Span;
  /** Exports what is left. */
  close(): Promise<void>;
}

const closeMs = 3_000;
const saidEveryMs = 60_000;

/** By the variables of OpenTelemetry: exporter, sampler, batches and resource. @returns undefined where no endpoint is set. */
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
