/**
 * Reads payloads as Temporal does by default, save that one that cannot be read is `undefined`, which every handler ignores with
 * a warning: an error there would stop the whole workflow until somebody resets it, for a signal that was mistyped in the Web UI.
 */

import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload: (payload, context, hint) => {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch {
      return undefined as never;
    }
  },
};
