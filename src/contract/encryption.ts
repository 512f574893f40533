/** Encryption at rest: AES-256-GCM with named keys, so that they can be rotated, and keys for other purposes from one secret. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { z } from 'zod';

const cipher = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** What was encrypted cannot be read: its key is not here, or it was changed or moved. The message says which, without content. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

export interface Encrypted {
  keyId: string;
  /** Nonce, ciphertext and tag. */
  data: Uint8Array;
}

/** Keys by their ids: the first encrypts, all decrypt. */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly currentId: string;

  /** @param text - `id:base64,id:base64`, each key of 32 bytes. @throws Error that says which entry is wrong, never its key. */
  constructor(text: string) {
    const entries = text.split(',').map((entry, index) => {
      const [, id = '', key = ''] = /^([\w-]{1,40}):([\w+/-]+=*)$/.exec(entry.trim()) ?? [];
      const bytes = Buffer.from(key, 'base64');
      if (id === '' || bytes.length !== 32)
        throw new Error(`entry ${index + 1} must be an id, a colon and 32 bytes in base64: openssl rand -base64 32`);
      return [id, bytes] as const;
    });
    this.#keys = new Map(entries);
    if (this.#keys.size < entries.length) throw new Error('two keys have the same id');
    this.currentId = entries[0]?.[0] ?? '';
  }

  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  /** @param context - must be the same when it is decrypted: nothing can be moved to another place unseen. */
  encrypt(plain: Uint8Array, context: string): Encrypted {
    const nonce = randomBytes(nonceLength);
    const encrypting = createCipheriv(cipher, this.#key(this.currentId), nonce, { authTagLength: tagLength });
    encrypting.setAAD(Buffer.from(context));
    const parts = [nonce, encrypting.update(plain), encrypting.final(), encrypting.getAuthTag()];
    return { keyId: this.currentId, data: Buffer.concat(parts) };
  }

  /** @throws DecryptionError */
  decrypt({ keyId, data }: Encrypted, context: string): Buffer {
    const end = Math.max(nonceLength, data.length - tagLength);
    const key = this.#key(keyId);
    try {
      const decrypting = createDecipheriv(cipher, key, data.subarray(0, nonceLength), { authTagLength: tagLength });
      decrypting.setAAD(Buffer.from(context)).setAuthTag(data.subarray(end));
      return Buffer.concat([decrypting.update(data.subarray(nonceLength, end)), decrypting.final()]);
    } catch {
      throw new DecryptionError(`what was encrypted with the key ${keyId} was changed or moved, or the key is another one`);
    }
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) throw missingKey(id);
    return key;
  }
}

function missingKey(id: string): DecryptionError {
  return new DecryptionError(`there is no encryption key ${id} here: append it to RELAY_ENCRYPTION_KEYS`);
}

/** As text: `enc:1:`, the key's id, a colon, and base64. */
export function encryptText(keyring: Keyring, plain: string, context: string): string {
  const { keyId, data } = keyring.encrypt(Buffer.from(plain), context);
  return `enc:1:${keyId}:${Buffer.from(data).toString('base64')}`;
}

/** @returns undefined where it is none that `encryptText` made. @throws DecryptionError */
export function decryptText(keyring: Keyring | undefined, text: string, context: string): string | undefined {
  const [, keyId = '', data = ''] = /^enc:1:([\w-]{1,40}):([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  if (data === '') return undefined;
  if (!keyring) throw missingKey(keyId);
  return keyring.decrypt({ keyId, data: Buffer.from(data, 'base64') }, context).toString();
}

/** A key of 32 bytes for one purpose, such as `token pepper`: from one, nothing follows about another, or about the secret. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}

/** What of the store is encrypted with which key. */
export const encryptionStatusSchema = z
  .object({
    keys: z.array(z.string()).describe('The ids of those that this process has: the first encrypts, all decrypt.'),
    rows: z
      .array(z.object({ table: z.string(), keyId: z.string().optional().describe('Absent: in clear.'), rows: z.int() }))
      .describe('Of each table and key, those that hold something to be encrypted.'),
    left: z.int().describe('Rows that the first key does not encrypt yet.'),
  })
  .meta({ id: 'Encryption' });
export type EncryptionStatus = z.infer<typeof encryptionStatusSchema>;

export const encryptionProgressSchema = encryptionStatusSchema
  .extend({
    rotated: z.int().describe('Rows that this request has encrypted with the first key.'),
    unreadable: z.array(z.string()).describe('Which rows could not be, and why.'),
  })
  .meta({ id: 'EncryptionProgress' });
