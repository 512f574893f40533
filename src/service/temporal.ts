/** Connects to Temporal, and registers the search attributes. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Connection, defaultGrpcRetryOptions, isGrpcServiceError, makeGrpcRetryInterceptor } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { searchAttributeKeys } from '../contract/search-attributes.js';
import { again, type Patience } from './again.js';
import { AwayError, StartError } from './config.js';

export interface TemporalAddress {
  connection: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
  namespace: string;
  /** The address of the Web UI; default: TEMPORAL_UI_URL. */
  uiUrl?: string;
  /** Whether the Web UI decrypts payloads without a session of the API. */
  decodes?: boolean;
}

/** @throws StartError if the variables contradict each other or name an unreadable file. */
export function temporalAddress(): TemporalAddress {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    return { connection: connectionOptions, namespace: namespace ?? 'default' };
  } catch (error) {
    throw new StartError(`the TEMPORAL_… variables cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** Connects at the first call. Waits at most 2 s between tries: the default is up to 2 minutes for gRPC, and 5 s for the SDK. */
export function lazyConnection({ connection }: TemporalAddress): Connection {
  const { retryableDecider } = defaultGrpcRetryOptions();
  const delayFunction = (attempt: number) => Math.min(100 * 1.7 ** attempt, 1000) * (0.8 + 0.4 * Math.random());
  return Connection.lazy({
    ...connection,
    channelArgs: { 'grpc.max_reconnect_backoff_ms': 2_000 },
    interceptors: [makeGrpcRetryInterceptor({ retryableDecider, delayFunction })],
  });
}

/** @param patience - if given, retries until Temporal can be reached. @throws AwayError, or the StartError of `work` */
export function reach<Value>({ connection, namespace }: TemporalAddress, work: () => Promise<Value>, patience?: Patience) {
  const tried = () =>
    work().catch((error: unknown) => {
      if (error instanceof StartError) throw error;
      const at = `${connection.address ?? 'localhost:7233'}, namespace ${namespace}`;
      const advice = 'Start it, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.';
      throw new AwayError(`Temporal cannot be reached at ${at}: ${reasonOf(error)}`, advice, { cause: error });
    });
  return patience ? again(tried, patience) : tried();
}

// The numbers are values of temporal.api.enums.v1.IndexedValueType.
const types = {
  KEYWORD: [2, 'Keyword'],
  BOOL: [5, 'Bool'],
  DATETIME: [6, 'Datetime'],
  KEYWORD_LIST: [7, 'KeywordList'],
} as const;

/** Retries do not help after INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, UNIMPLEMENTED, UNAUTHENTICATED (gRPC). */
const refusals = new Set([3, 7, 9, 12, 16]);

/** Registers missing attributes, and waits until they are usable. @throws StartError with a command to run, if Temporal refuses. */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributeKeys.filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, types[type][0]]));
    await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch((error: unknown) => {
      if (!isGrpcServiceError(error) || !refusals.has(error.code)) throw error;
      const flags = missing.map(({ name, type }) => `--name ${name} --type ${types[type][1]}`);
      throw new StartError(
        `the Temporal namespace ${namespace} lacks the search attributes ${missing.map(({ name }) => name).join(', ')}, ` +
          'and this process may not register them. Run:\n' +
          `  temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}`,
        { cause: error },
      );
    });
  }
  // The server's caches do not have a new search attribute immediately.
  const query = searchAttributeKeys.map(({ name }) => `${name} IS NULL`).join(' AND ');
  for (const deadline = Date.now() + 60_000; ; await sleep(250)) {
    const usable = await client.workflow.count(query).catch((error: unknown) => {
      if (Date.now() > deadline) throw error;
    });
    if (usable) return;
  }
}

/** Returns the message of an error. For a gRPC error, returns `details`, because its message may lack the details. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'details' in error && typeof error.details === 'string' && error.details !== '' ? error.details : error.message;
}
