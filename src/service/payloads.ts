/** Encrypts and decrypts Temporal's payloads. Also reads payloads in answers of the server that the SDK does not decode. */

import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { DataConverter, Payload, PayloadCodec, ProtoFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { companyOfWorkflow } from '../chain/chain.js';
import { DecryptionError, type Keyring } from '../contract/encryption.js';

const { Payload: protoPayload } = proto.temporal.api.common.v1;
const encrypted = 'binary/encrypted';
const keyIdName = 'encryption-key-id';
const companyName = 'encryption-company'; // the company for which the key is derived
const textOf = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();

/** All payloads have the same encryption context, because a result may become the input of another workflow. */
const context = 'temporal payload';

/** The converter of every client and worker. Without a keyring, the converter encrypts nothing and refuses encrypted payloads. */
export function dataConverterOf(keyring: Keyring | undefined): DataConverter {
  const path = fileURLToPath(new URL('../contract/converters.js', import.meta.url));
  return { payloadCodecs: [payloadCodec(keyring)], ...(keyring && { failureConverterPath: path }) };
}

/** Encrypts for the workflow's company. Refuses payloads of other companies. `decode` also accepts plain input by people. */
export function payloadCodec(keyring: Keyring | undefined): PayloadCodec {
  return {
    async encode(payloads, place) {
      const companyId = companyOfWorkflow(place?.workflowId);
      return keyring ? payloads.map((payload) => encrypt(keyring, payload, companyId)) : payloads;
    },
    async decode(payloads, place) {
      const companyId = companyOfWorkflow(place?.workflowId);
      const isEncrypted = ({ metadata }: Payload) => textOf(metadata?.encoding) === encrypted;
      return payloads.map((payload) => (isEncrypted(payload) ? decrypt(keyring, payload, companyId) : payload));
    },
  };
}

function encrypt(keyring: Keyring, payload: Payload, companyId: string | undefined): Payload {
  const { keyId, data } = keyring.encrypt(protoPayload.encode(payload).finish(), context, companyId);
  const metadata = { encoding: Buffer.from(encrypted), [keyIdName]: Buffer.from(keyId) };
  return { metadata: { ...metadata, ...(companyId !== undefined && { [companyName]: Buffer.from(companyId) }) }, data };
}

/** @param reader - the company of the workflow with the payload; undefined if unknown. @throws DecryptionError */
function decrypt(keyring: Keyring | undefined, { metadata, data }: Payload, reader: string | undefined): Payload {
  const keyId = textOf(metadata?.[keyIdName]);
  if (keyId === '') throw new DecryptionError('the payload names no key, so it is not from this relay');
  if (!keyring) throw new DecryptionError(`this process has no encryption key: set RELAY_ENCRYPTION_KEYS, with the key ${keyId}`);
  const companyId = metadata?.[companyName] && textOf(metadata[companyName]);
  if (companyId !== undefined && reader !== undefined && companyId !== reader)
    throw new DecryptionError(`the payload belongs to company ${companyId}, but the workflow belongs to company ${reader}`);
  return protoPayload.decode(keyring.decrypt({ keyId, data: data ?? new Uint8Array() }, context, companyId));
}

/** Decodes a payload that was read directly from the server. @param workflowId - the workflow with the payload. */
export async function readPayload(client: Client, payload: Payload, workflowId = ''): Promise<unknown> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  const place = { type: 'workflow', namespace: client.options.namespace, workflowId } as const;
  let payloads = [payload];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads, place);
  return payloads[0] && payloadConverter.fromPayload(payloads[0]);
}

export async function readMessage(client: Client, { message, encodedAttributes }: ProtoFailure, workflowId?: string) {
  const encoded = encodedAttributes && (await readPayload(client, encodedAttributes, workflowId));
  return (encoded as { message?: string } | undefined)?.message ?? message ?? '';
}
