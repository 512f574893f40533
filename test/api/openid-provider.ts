/** A local OpenID provider: discovery, keys (RS256), authorize, token, userinfo. It signs in the account that the test sets. */

import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { Hono } from 'hono';
import { serve } from '../cli/local-api.js';

export interface Account {
  sub: string;
  email?: string;
  email_verified?: unknown;
  name?: string;
  groups?: string[];
}

/**
 * `claims` replaces claims of the ID token. With `key`, the token is signed with an unpublished key. With `again`, a code works
 * twice.
 */
export interface Tampering {
  claims?: Record<string, unknown>;
  key?: 'unpublished';
  again?: true;
}

export const clientId = 'relay-client';
export const clientSecret = 'secret of the client';

export async function startOpenIdProvider() {
  const keys = {
    published: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    unpublished: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  };
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const issued = new Map<string, { query: Record<string, string>; account: Account }>();
  const state: { account: Account; tampering: Tampering; inUserinfo: boolean } = {
    account: { sub: '' },
    tampering: {},
    inUserinfo: false,
  };
  let issuer = '';
  const app = new Hono()
    .get('/.well-known/openid-configuration', (c) =>
      c.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        ...(state.inUserinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      }),
    )
    .get('/keys', (c) =>
      c.json({ keys: [{ ...keys.published.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }] }),
    )
    .get('/authorize', (c) => {
      const query = c.req.query();
      const code = randomUUID();
      issued.set(code, { query, account: state.account });
      return c.redirect(`${query.redirect_uri}?${new URLSearchParams({ code, state: query.state ?? '' })}`);
    })
    .post('/token', async (c) => {
      const form = await c.req.parseBody();
      const code = String(form.code);
      const known = issued.get(code);
      const challenge = createHash('sha256').update(String(form.code_verifier)).digest('base64url');
      const isRight = known?.query.code_challenge === challenge && known.query.redirect_uri === form.redirect_uri;
      if (!known || !isRight || form.client_id !== clientId || form.client_secret !== clientSecret)
        return c.json({ error: 'invalid_grant' }, 400);
      if (!state.tampering.again) issued.delete(code);
      const { email, email_verified, groups, ...account } = known.account;
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: issuer,
        aud: clientId,
        iat: now,
        exp: now + 300,
        nonce: known.query.nonce,
        ...account,
        ...(!state.inUserinfo && { email, email_verified, groups }),
        ...state.tampering.claims,
      };
      const text = `${base64({ alg: 'RS256', kid: '1' })}.${base64(claims)}`;
      const signature = sign('sha256', Buffer.from(text), keys[state.tampering.key ?? 'published'].privateKey).toString(
        'base64url',
      );
      return c.json({ access_token: code, token_type: 'Bearer', expires_in: 300, id_token: `${text}.${signature}` });
    })
    .get('/userinfo', (c) => c.json({ ...state.account }));
  const server = await serve(app);
  issuer = server.url;
  return { ...server, issuer, state };
}
