/**
 * Temporal's codec-server protocol: its Web UI and its command lines hold no keys, and have what they show decoded here, and what
 * people type encoded. For operators only, and for the pages of one other origin, that of the Web UI.
 */

import type { PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { z } from 'zod';
import type { Links } from '../chain/chain.js';
import { DecryptionError } from '../contract/encryption.js';
import { payloadCodec } from '../service/payloads.js';
import { invalid } from './input.js';
import { type ApiOptions, type Route, route } from './route.js';

const { Payloads } = proto.temporal.api.common.v1;
const payload = z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() });
const payloadsSchema = z
  .object({ payloads: z.array(payload).max(1000, 'must have at most 1000 elements').default([]) })
  .meta({ id: 'Payloads', description: 'As Temporal writes them in JSON: bytes in base64.' });
/** Temporal takes payloads of 2 MiB, which base64 makes longer. */
const maxBodyBytes = 4 * 1024 * 1024;

export function codecRoutes({ keyring }: Pick<ApiOptions, 'keyring'>): Route[] {
  const codec = payloadCodec(keyring);
  const codecRoute = (path: keyof PayloadCodec & string, summary: string) =>
    route(`POST /codec/${path}`, `${path}Payloads`, summary, {
      body: payloadsSchema,
      maxBodyBytes,
      answers: { 200: ['The same payloads in the same order.', payloadsSchema, { 'Cache-Control': 'no-store' }] },
      async handle(c, { body }) {
        const ofEach = Payloads.fromObject(body).payloads.map((payload, index) =>
          codec[path]([payload]).catch((error: unknown) => {
            if (!(error instanceof DecryptionError)) throw error;
            throw invalid([{ pointer: `/payloads/${index}`, detail: `cannot be decrypted: ${error.message}` }]);
          }),
        );
        const payloads = (await Promise.all(ofEach)).flat();
        return c.json(Payloads.toObject(Payloads.create({ payloads }), { bytes: String }), 200, { 'Cache-Control': 'no-store' });
      },
    });
  return [
    codecRoute('decode', 'Decrypt payloads of Temporal; those that are not encrypted stay as they are'),
    codecRoute('encode', 'Encrypt payloads for Temporal, where the relay has keys'),
  ];
}

/** Answers the browser whether a page of the Web UI may read what it asks here; those of other origins may not. */
export function codecCors({ webUi }: Links): MiddlewareHandler {
  const allowHeaders = ['Authorization', 'Content-Type', 'X-Namespace'];
  const origin = webUi === undefined ? [] : [new URL(webUi).origin];
  const answer = cors({ origin, credentials: true, allowMethods: ['POST'], allowHeaders, maxAge: 600 });
  return (c, next) => {
    c.set('trustedOrigin', origin[0]);
    return answer(c, next);
  };
}
