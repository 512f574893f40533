/** Payload and failure converters that differ from Temporal's own. */

import { DefaultFailureConverter, defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/** An unreadable payload becomes `undefined`, and handlers ignore it: an error would block the workflow until a reset. */
export const payloadConverter: PayloadConverter = {
  toPayload: defaultPayloadConverter.toPayload.bind(defaultPayloadConverter),
  fromPayload: (payload, context, hint) => {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch {
      return undefined as never;
    }
  },
};

/** The workflow bundle defines this global if there are no keys. Failure messages then stay readable in Temporal's tools. */
export const plainFailures = 'relayPlainFailures';

/** Encodes the messages and stack traces of failures as payloads, so that they are encrypted, too. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: !(plainFailures in globalThis) });
