/** Returns the error that a connector throws. */

import assert from 'node:assert/strict';
import { ConnectorError } from '../../src/connectors/call.js';

export async function failing(promise: Promise<unknown>): Promise<ConnectorError> {
  const error = await promise.then(
    () => assert.fail('did not fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConnectorError, String(error));
  return error;
}
