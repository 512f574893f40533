/** How the processes reach Temporal: addresses and credentials from the environment, and the search attributes that the server must know. */

import { Client, type ConnectionLike } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { searchAttributeKeys } from '../contract/search-attributes.js';

export interface TemporalAddress {
  connection: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
  namespace: string;
}

/** The address from TEMPORAL_ADDRESS and the other variables that `@temporalio/envconfig` reads. */
export function temporalAddress(): TemporalAddress {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return { connection: connectionOptions, namespace: namespace ?? 'default' };
}

/** The server does not know the search attributes and does not let us register them. */
export class MissingSearchAttributes extends Error {
  override readonly name = 'MissingSearchAttributes';

  constructor(
    readonly missing: readonly string[],
    namespace: string,
    cause: unknown,
  ) {
    const types: Record<string, string> = { KEYWORD: 'Keyword', BOOL: 'Bool', KEYWORD_LIST: 'KeywordList' };
    const flags = searchAttributeKeys
      .filter(({ name }) => missing.includes(name))
      .map(({ name, type }) => `--name ${name} --type ${types[type]}`);
    super(
      `the Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')}, and this process may not register them. Run:\n` +
        `  temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}`,
      { cause },
    );
  }
}

// temporal.api.enums.v1.IndexedValueType
const indexedTypes: Record<string, number> = { KEYWORD: 2, BOOL: 5, KEYWORD_LIST: 7 };

/**
 * Registers what the server does not know yet, and waits until it can be used.
 * @throws MissingSearchAttributes with the command to run, where the server does not let us.
 */
export async function registerSearchAttributes(connection: ConnectionLike, namespace: string): Promise<void> {
  const client = new Client({ connection, namespace });
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributeKeys.filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length > 0) {
    try {
      const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, indexedTypes[type] ?? 0]));
      await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    } catch (error) {
      const names = missing.map(({ name }) => name);
      throw new MissingSearchAttributes(names, namespace, error);
    }
  }
  await usable(client, Date.now() + 60_000);
}

/** A server knows a new search attribute only after its caches have been refreshed. */
async function usable(client: Client, deadline: number): Promise<void> {
  for (;;) {
    try {
      await client.workflow.count(searchAttributeKeys.map(({ name }) => `${name} IS NULL`).join(' AND '));
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
