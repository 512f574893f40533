/**
 * Payloads: everything that a company says reaches Temporal in them. They are encrypted where there are keys. What the SDK does
 * not decode, since it was read from the server by hand, is decoded here.
 */

import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { DataConverter, Payload, PayloadCodec, ProtoFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { DecryptionError, type Keyring } from '../contract/encryption.js';

const { Payload: protoPayload } = proto.temporal.api.common.v1;
const encrypted = 'binary/encrypted';
const keyIdName = 'encryption-key-id';
const textOf = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();

/** One for all: a payload moves, as from a result into the input of another workflow, and whoever decodes it is told no place. */
const context = 'temporal payload';

/** Of every client and worker. @param keyring - without keys nothing is encrypted, and what is encrypted is not taken for plain. */
export function dataConverterOf(keyring: Keyring | undefined): DataConverter {
  const path = fileURLToPath(new URL('../contract/converters.js', import.meta.url));
  return { payloadCodecs: [payloadCodec(keyring)], ...(keyring && { failureConverterPath: path }) };
}

/** `decode` leaves plain payloads as they are: those from before there were keys, and signals that somebody typed. */
export function payloadCodec(keyring: Keyring | undefined): PayloadCodec {
  return {
    encode: async (payloads) => (keyring ? payloads.map((payload) => encrypt(keyring, payload)) : payloads),
    decode: async (payloads) =>
      payloads.map((payload) => (textOf(payload.metadata?.encoding) === encrypted ? decrypt(keyring, payload) : payload)),
  };
}

function encrypt(keyring: Keyring, payload: Payload): Payload {
  const { keyId, data } = keyring.encrypt(protoPayload.encode(payload).finish(), context);
  return { metadata: { encoding: Buffer.from(encrypted), [keyIdName]: Buffer.from(keyId) }, data };
}

/** @throws DecryptionError */
function decrypt(keyring: Keyring | undefined, { metadata, data }: Payload): Payload {
  const keyId = textOf(metadata?.[keyIdName]);
  if (keyId === '') throw new DecryptionError('it is no payload of this relay: it names no key');
  if (!keyring) throw new DecryptionError(`there are no encryption keys here: set RELAY_ENCRYPTION_KEYS, with the key ${keyId}`);
  return protoPayload.decode(keyring.decrypt({ keyId, data: data ?? new Uint8Array() }, context));
}

/** What is in a payload that was read from the server by hand. */
export async function readPayload(client: Client, payload: Payload): Promise<unknown> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let payloads = [payload];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  return payloads[0] && payloadConverter.fromPayload(payloads[0]);
}

/** The message of a failure that was read from the server by hand. */
export async function readMessage(client: Client, { message, encodedAttributes }: ProtoFailure): Promise<string> {
  const encoded = encodedAttributes && (await readPayload(client, encodedAttributes));
  return (encoded as { message?: string } | undefined)?.message ?? message ?? '';
}
