/** Payload and failure converters that differ from Temporal's own. */

import { DefaultFailureConverter, defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/** Turns an unreadable payload into `undefined`, which handlers ignore. An error would block the workflow until a reset. */
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

/** The workflow bundle defines this global if nothing is encrypted. Temporal's tools can then show the failure messages. */
export const plainFailures = 'relayPlainFailures';

/** Encodes the messages and stack traces of failures as payloads, so that they are encrypted, too. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: !(plainFailures in globalThis) });
