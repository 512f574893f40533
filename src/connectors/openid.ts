/** Signs people in with an OpenID Connect service. Uses the authorization code with PKCE, state and nonce (openid-client). */

import { createHmac } from 'node:crypto';
import * as client from 'openid-client';
import { z } from 'zod';
import { addressOf, isEmailAddress } from '../chain/address.js';
import { roles } from '../contract/credential.js';
import { isLoopback } from '../contract/loopback.js';
import type { Grant, Identity } from '../contract/person.js';
import { type Config, StartError } from '../service/config.js';

export type OpenId = NonNullable<ReturnType<typeof createOpenId>>;

/** The nonce and the PKCE verifier are derived from the browser's secret, so the relay does not store them. */
const derived = (browser: string, purpose: string) => createHmac('sha256', browser).update(purpose).digest('base64url');

const timeoutSeconds = 10;
const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  name: z.string().trim().min(1).max(200).optional().catch(undefined),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  groups: z.array(z.string()).catch([]),
});

/** @param api - the relay's address. @returns undefined if the operator has set no OpenID service. @throws StartError */
export function createOpenId(config: Config, api: string) {
  const { RELAY_OIDC_ISSUER: issuer, RELAY_OIDC_CLIENT_ID: clientId, RELAY_OIDC_CLIENT_SECRET: secret } = config;
  const { RELAY_OIDC_DOMAINS: domains, RELAY_OIDC_GROUPS: groups = [] } = config;
  if (issuer === undefined) return undefined;
  if (clientId === undefined || secret === undefined)
    throw new StartError(
      'RELAY_OIDC_ISSUER also needs RELAY_OIDC_CLIENT_ID and RELAY_OIDC_CLIENT_SECRET: set all three, or none',
    );
  const server = new URL(issuer);
  const redirectUri = `${api}/sign-in/openid/callback`;
  const execute = [client.enableNonRepudiationChecks, ...(isLoopback(server.hostname) ? [client.allowInsecureRequests] : [])];

  let found: Promise<client.Configuration> | undefined;
  const configuration = () => {
    found ??= client.discovery(server, clientId, secret, undefined, { execute, timeout: timeoutSeconds }).catch((error) => {
      found = undefined; // The next sign-in asks the service again.
      throw error;
    });
    return found;
  };

  /** The claims of the ID token. Some services give the e-mail address only in the answer of the endpoint `userinfo`. */
  async function claimsOf(known: client.Configuration, tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>) {
    const claims = claimsSchema.parse(tokens.claims());
    if (claims.email !== undefined || known.serverMetadata().userinfo_endpoint === undefined) return claims;
    const { groups = claims.groups, ...more } = await client.fetchUserInfo(known, tokens.access_token, claims.sub);
    return claimsSchema.parse({ ...more, groups, iss: claims.iss });
  }

  return {
    name: server.host,

    /** @param browser - a secret of the browser. @returns the page of the service where the person signs in. */
    async begin(browser: string, state: string): Promise<URL> {
      return client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce: derived(browser, `nonce ${state}`),
        code_challenge: await client.calculatePKCECodeChallenge(derived(browser, `verifier ${state}`)),
        code_challenge_method: 'S256',
      });
    },

    /** @param search - the query of the URL to which the service sent the browser. @throws an error of the library */
    async finish(search: string, browser: string, state: string): Promise<Identity | { refused: string }> {
      const known = await configuration();
      const tokens = await client.authorizationCodeGrant(known, new URL(search, redirectUri), {
        expectedState: state,
        expectedNonce: derived(browser, `nonce ${state}`),
        pkceCodeVerifier: derived(browser, `verifier ${state}`),
      });
      const claims = await claimsOf(known, tokens);
      const { iss, sub, email: given = '', email_verified: isVerified } = claims;
      const email = isVerified === true && isEmailAddress(given) ? addressOf(given) : undefined;
      if (domains && (email === undefined || !domains.includes(email.slice(email.lastIndexOf('@') + 1))))
        return { refused: `Your account needs a verified e-mail address that ends with @${domains.join(' or @')}.` };
      const name = claims.name ?? email?.replace(/@.*/, '') ?? sub;
      return { issuer: iss, subject: sub, name, email, grants: highest(groups, claims.groups) };
    },
  };
}

/** The grants of a person's groups. If several groups give a role in one company, the highest role counts. */
export function highest(all: readonly Grant[], groups: readonly string[]): Grant[] {
  const rank = ({ role }: Grant) => roles.indexOf(role);
  const given = all.filter(({ group }) => groups.includes(group)).sort((a, b) => rank(b) - rank(a));
  return given.filter((grant, place) => given.findIndex(({ companyId }) => companyId === grant.companyId) === place);
}
