/**
 * A codec server: it decodes and encodes payloads for Temporal's Web UI and command line, which have no encryption keys.
 * Only operators can use the codec server. Only web pages of the Web UI's origin can call the codec server.
 */

import type { PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { z } from 'zod';
import { DecryptionError } from '../contract/encryption.js';
import { payloadCodec } from '../service/payloads.js';
import { invalid } from './input.js';
import { type ApiOptions, type Route, route } from './route.js';

const { Payloads } = proto.temporal.api.common.v1;
const payload = z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() });
const payloadsSchema = z
  .object({ payloads: z.array(payload).max(1000, 'must have at most 1000 elements').default([]) })
  .meta({ id: 'Payloads', description: "Payloads in Temporal's JSON form, with bytes in base64." });
/** Temporal's limit for payloads is 2 MiB. Base64 makes payloads longer. */
const maxBodyBytes = 4 * 1024 * 1024;

export function codecRoutes({ keyring }: Pick<ApiOptions, 'keyring'>): Route[] {
  const codec = payloadCodec(keyring);
  const codecRoute = (path: keyof PayloadCodec & string, summary: string) =>
    route.admin(`POST /codec/${path}`, `${path}Payloads`, summary, {
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
    codecRoute('decode', 'Decrypt payloads of Temporal, and leave unencrypted payloads as they are'),
    codecRoute('encode', 'Encrypt payloads for Temporal, if the relay has encryption keys'),
  ];
}

/** CORS: only pages of the Web UI can read the answers, including a 401 with the sign-in address. */
export function codecCors({ links, webUi }: Pick<ApiOptions, 'links' | 'webUi'>): MiddlewareHandler {
  const allowHeaders = ['Authorization', 'Content-Type', 'X-Namespace'];
  const origin = webUi === undefined ? [] : [new URL(webUi).origin];
  const answer = cors({ origin, credentials: true, allowMethods: ['POST'], allowHeaders, maxAge: 600 });
  return (c, next) => {
    c.set('trustedOrigin', origin[0]);
    c.set('signInAt', `${links.api}${webUi === undefined ? '/sign-in' : '/web-ui/workflows'}`);
    return answer(c, next);
  };
}
