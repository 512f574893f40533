/** Encryption at rest: AES-256-GCM with named keys that can be rotated. `deriveKey` makes keys for other purposes. */

import { createCipheriv, createDecipheriv, hkdfSync, randomFillSync } from 'node:crypto';
import { z } from 'zod';
import { named } from './named.js';

const cipher = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** The key is missing, or the data was changed or moved. The message names the reason, but contains no data. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

export interface Encrypted {
  keyId: string;
  data: Uint8Array; // nonce, ciphertext, tag
}

const nonces = Buffer.alloc(nonceLength * 512); // one slow call for random bytes fills many nonces, to save time
let usedNonces = nonces.length;
function newNonce(): Buffer {
  if (usedNonces === nonces.length) {
    randomFillSync(nonces);
    usedNonces = 0;
  }
  usedNonces += nonceLength;
  return nonces.subarray(usedNonces - nonceLength, usedNonces);
}

const mostDerived = 10_000; // the maximum number of keys in `#derived`, which limits the memory

/** The first key encrypts. All keys can decrypt. */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #derived = new Map<string, Buffer>(); // by key id and company
  readonly currentId: string;

  /** @param text - `id:base64,id:base64`, with keys of 32 bytes. @throws Error - names the wrong entry, but not its key. */
  constructor(text: string) {
    const entries = text.split(',').map((entry, index) => {
      const [, id = '', key = ''] = /^([\w-]{1,40}):([\w+/-]+=*)$/.exec(entry.trim()) ?? [];
      const bytes = Buffer.from(key, 'base64');
      if (id === '' || bytes.length !== 32)
        throw new Error(`entry ${index + 1} must be an id, a colon and 32 bytes in base64 (from openssl rand -base64 32)`);
      return [id, bytes] as const;
    });
    this.#keys = new Map(entries);
    if (this.#keys.size < entries.length) throw new Error('two keys have the same id');
    this.currentId = entries[0]?.[0] ?? '';
  }

  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  /** The keys as text, for another thread. The text is secret. */
  text(): string {
    return Array.from(this.#keys, ([id, key]) => `${id}:${key.toString('base64')}`).join();
  }

  /** @param context - the place of the data; `decrypt` needs the same context. @param companyId - selects the company's key. */
  encrypt(plain: Uint8Array, context: string, companyId?: string): Encrypted {
    const nonce = newNonce();
    const encrypting = createCipheriv(cipher, this.#keyFor(this.currentId, companyId), nonce, { authTagLength: tagLength });
    encrypting.setAAD(Buffer.from(context));
    const parts = [nonce, encrypting.update(plain), encrypting.final(), encrypting.getAuthTag()];
    return { keyId: this.currentId, data: Buffer.concat(parts) };
  }

  /** @throws DecryptionError */
  decrypt({ keyId, data }: Encrypted, context: string, companyId?: string): Buffer {
    const end = Math.max(nonceLength, data.length - tagLength);
    const key = this.#keyFor(keyId, companyId);
    try {
      const decrypting = createDecipheriv(cipher, key, data.subarray(0, nonceLength), { authTagLength: tagLength });
      decrypting.setAAD(Buffer.from(context)).setAuthTag(data.subarray(end));
      return Buffer.concat([decrypting.update(data.subarray(nonceLength, end)), decrypting.final()]);
    } catch {
      throw new DecryptionError(`data with the encryption key ${keyId} was changed or moved, or the key has changed`);
    }
  }

  #keyFor(id: string, companyId: string | undefined): Buffer {
    if (companyId === undefined) return this.#key(id);
    const name = `${id}\n${companyId}`;
    const known = this.#derived.get(name);
    if (known) return known;
    if (this.#derived.size >= mostDerived) this.#derived.clear();
    const derived = deriveKey(this.#key(id), `company ${companyId}`);
    this.#derived.set(name, derived);
    return derived;
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) throw missingKey(id);
    return key;
  }
}

function missingKey(id: string): DecryptionError {
  return new DecryptionError(`this relay has no encryption key ${id}; the operator must append the key to RELAY_ENCRYPTION_KEYS`);
}

/** @returns `enc:1:<key id>:<base64>`. */
export function encryptText(keyring: Keyring, plain: string, context: string): string {
  const { keyId, data } = keyring.encrypt(Buffer.from(plain), context);
  return `enc:1:${keyId}:${Buffer.from(data).toString('base64')}`;
}

/** @returns undefined if the text does not come from `encryptText`. @throws DecryptionError */
export function decryptText(keyring: Keyring | undefined, text: string, context: string): string | undefined {
  const [, keyId = '', data = ''] = /^enc:1:([\w-]{1,40}):([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  if (data === '') return undefined;
  if (!keyring) throw missingKey(keyId);
  return keyring.decrypt({ keyId, data: Buffer.from(data, 'base64') }, context).toString();
}

/** Makes a key of 32 bytes for one purpose, such as `token pepper`. The key reveals nothing about the secret or other keys. */
export function deriveKey(secret: string | Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}

export const encryptionStatusSchema = named('Encryption', {
  keys: z.array(z.string()).describe('The ids of the keys of this process. The first key encrypts. All keys can decrypt.'),
  rows: z
    .array(z.object({ table: z.string(), keyId: z.string().optional().describe('Absent if not encrypted.'), rows: z.int() }))
    .describe('The number of rows with sensitive data, by table and key.'),
  left: z.int().describe('The number of rows that are not yet encrypted with the first key.'),
});
export type EncryptionStatus = z.infer<typeof encryptionStatusSchema>;

export const encryptionProgressSchema = named('EncryptionProgress', {
  ...encryptionStatusSchema.shape,
  rotated: z.int().describe('The number of rows that this request encrypted with the first key.'),
  unreadable: z.array(z.string()).describe('The rows that could not be decrypted, each with the reason.'),
});
