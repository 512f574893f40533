/** How values and failures become payloads, where it is not as in Temporal's own converters. */

import { DefaultFailureConverter, defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/**
 * Of workflows. A payload that cannot be read is `undefined`, which every handler ignores with a warning: an error would stop the
 * whole workflow until somebody resets it, for a signal that was mistyped in the Web UI.
 */
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

/** In the bundle of the workflows this name is defined where there are no keys: messages then stay legible in Temporal's tools. */
export const plainFailures = 'relayPlainFailures';

/** Messages and stack traces become payloads, so that they are encrypted with the others. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: !(plainFailures in globalThis) });
