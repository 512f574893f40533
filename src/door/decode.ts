/** Makes text from the bytes of a request: decompresses the bytes, decodes the charset, and takes the text out of a form. */

import { isUtf8 } from 'node:buffer';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { type Issue, mostBytes } from '../chain/request.js';

/** The parts of a request that src/door reads. `whole`: whether the bytes are complete. */
export interface Received {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  bytes: ArrayBuffer;
  whole: boolean;
}

/** `unread`: why the decoded text is not the text that the sender wrote. */
export type Decoded = { text: string; warnings: Issue[]; unread?: 'too-large' | 'charset' | 'content-encoding' | 'cut-off' };

export const isJsonType = (contentType: string | undefined) => /^application\/([\w.-]+\+)?json *(;|$)/i.test(contentType ?? '');

export async function decode(received: Received): Promise<Decoded> {
  const { contentType } = received;
  const warnings: Issue[] = [];
  const warn = (detail: string) => warnings.push({ pointer: '', detail });
  const unpacked = await unpack(received, warn);
  const decoded = readCharset(unpacked.bytes, contentType, !unpacked.unread);
  if (decoded.warning) warn(decoded.warning);
  const unread = unpacked.unread ?? decoded.unread;
  if (unread) return { text: decoded.text, warnings, unread };
  const field = await formField(contentType, unpacked.bytes, decoded.text);
  if (field !== undefined) warn('came in a form field; send the JSON itself, with Content-Type: application/json');
  else if (!isJsonType(contentType)) {
    const type = contentType === undefined ? 'no Content-Type' : 'another Content-Type';
    warn(`came with ${type} and was read as JSON; send Content-Type: application/json`);
  }
  return { text: field ?? decoded.text, warnings };
}

type Unpacked = { bytes: Uint8Array; unread?: 'too-large' | 'content-encoding' | 'cut-off' };

const mostLayers = 3;
const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function unpack(received: Received, warn: (detail: string) => void): Promise<Unpacked> {
  const { contentEncoding = '' } = received;
  let { whole } = received;
  let bytes = new Uint8Array(received.bytes);
  const layers = Array.from(contentEncoding.toLowerCase().split(','), (layer) => layer.trim());
  const declared = layers.filter((layer) => layer !== '' && layer !== 'identity').reverse();
  if (declared.length === 0 && isGzip(bytes)) {
    declared.push('gzip');
    warn('is compressed with gzip, but has no Content-Encoding; send it uncompressed');
  }
  if (declared.length > mostLayers) return { bytes, unread: 'content-encoding' };
  for (const layer of declared) {
    const unpacker = unpackerOf(layer, bytes);
    if (!unpacker) return { bytes, unread: 'content-encoding' };
    const before = whole;
    const out = await pour(unpacker, bytes);
    // A proxy may have decompressed the body without removing the header.
    if (out.broken && out.bytes.length === 0) {
      warn(`is not compressed, but its Content-Encoding says ${layer}; leave that header out`);
      return whole ? { bytes } : { bytes, unread: 'too-large' };
    }
    if (contentEncoding !== '') warn(`is compressed with ${layer}; send it uncompressed`);
    bytes = out.bytes;
    whole &&= out.whole;
    if (out.broken) return { bytes, unread: before ? 'cut-off' : 'too-large' };
  }
  return whole ? { bytes } : { bytes, unread: 'too-large' };
}

function unpackerOf(encoding: string, [first = 0, second = 0]: Uint8Array): Transform | undefined {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding !== 'deflate') return undefined;
  // Some senders omit zlib's header.
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0 ? createInflate() : createInflateRaw();
}

/** Decompresses the bytes. Stops after `mostBytes`, as a protection against decompression bombs. */
async function pour(unpacker: Transform, bytes: Uint8Array) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let broken = false;
  unpacker.end(bytes);
  try {
    for await (const chunk of unpacker) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) break;
    }
  } catch {
    broken = true;
  }
  return { bytes: new Uint8Array(Buffer.concat(chunks).subarray(0, mostBytes)), whole: size <= mostBytes, broken };
}

/** Whether a text in windows-1252 may contain the byte. Five bytes have no character in windows-1252. */
const printable1252 = (byte: number) =>
  byte < 0x80 ? byte !== 0 && byte !== 0x7f : ![0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte);

function declaredCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase();
}

const isOtherCharset = (declared: string | undefined) => declared !== undefined && !/^utf-?8$/.test(declared);

/** Whether the type is JSON in UTF-8. JSON without a declared charset counts as UTF-8, too. */
export function isPlainJsonType(contentType: string | undefined): boolean {
  return isJsonType(contentType) && !isOtherCharset(declaredCharset(contentType));
}

const notLikeAscii = /^(utf-16|iso-2022|utf-32|ucs)/i; // charsets in which ASCII bytes may mean other characters

/** A UTF-8 sequence of two to four bytes, read as Latin-1. Overlong sequences match, too. */
const utf8Character = /[\u00c0-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f7][\u0080-\u00bf]{3}/;

/** @param strict - whether the bytes are complete. If the bytes are incomplete, the last character may be cut. */
function readCharset(
  bytes: Uint8Array,
  contentType: string | undefined,
  strict: boolean,
): { text: string; warning?: string; unread?: 'charset' } {
  const declared = declaredCharset(contentType);
  const as = (label: string): string | undefined => {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: !strict });
    } catch {
      return undefined;
    }
  };
  const said = (label: string, text = as(label)) =>
    text === undefined ? undefined : { text, warning: `is in ${label}; send UTF-8` };
  const latin1 = { text: Buffer.from(bytes).toString('latin1'), unread: 'charset' as const };
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return said('utf-16le') ?? latin1;
  if (first === 0xfe && second === 0xff) return said('utf-16be') ?? latin1;
  // JSON has no raw NUL, so a zero byte in one of the first two places means UTF-16.
  if (bytes.includes(0) && (first === 0) !== (second === 0)) return said(first === 0 ? 'utf-16be' : 'utf-16le') ?? latin1;
  if (declared !== undefined && notLikeAscii.test(declared)) return said(declared) ?? latin1;
  const utf8 = !strict || isUtf8(bytes) ? as('utf-8') : undefined;
  const isOther = isOtherCharset(declared);
  if (utf8 !== undefined)
    return {
      text: utf8,
      ...(isOther && { warning: `declares the charset ${declared}, but was read as UTF-8; send and declare UTF-8` }),
    };
  if (declared !== undefined && isOther) return said(declared) ?? latin1;
  // The text is not UTF-8. If the sender declares UTF-8, or if a part of the text is UTF-8, the charset is unknown.
  const isMixed = declared !== undefined || utf8Character.test(latin1.text);
  return isMixed || !bytes.every(printable1252) ? latin1 : (said('windows-1252') ?? latin1);
}

/** Returns the value of a form's only field, if the value looks like JSON. */
async function formField(contentType: string | undefined, bytes: Uint8Array, text: string): Promise<string | undefined> {
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(contentType ?? '');
  const isMultipart = /^multipart\/form-data *;/i.test(contentType ?? '');
  if (!isForm && !isMultipart) return undefined;
  const begins = (field: string) => /^\s*[[{]/.test(field);
  if (begins(text)) return undefined; // many programs send JSON, but declare the type of a form by default
  const fields = isForm ? [...new URLSearchParams(text)] : await multipart(contentType, bytes);
  const [field] = fields;
  if (!field || fields.length > 1) return undefined;
  const [, value] = field;
  const json = typeof value === 'string' ? value : await value.text();
  return begins(json) ? json : undefined;
}

async function multipart(contentType = '', bytes: Uint8Array) {
  const headers = { 'content-type': contentType };
  const form = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData().catch(() => undefined);
  return form ? [...form] : [];
}
