/** Signs people in at an OpenID Connect service: authorization code, PKCE, state and nonce. Uses the library openid-client. */

import * as client from 'openid-client';
import { z } from 'zod';
import { addressOf, isEmailAddress } from '../chain/address.js';
import { roles } from '../contract/credential.js';
import { isLoopback } from '../contract/loopback.js';
import type { Grant, Identity } from '../contract/person.js';
import { type Config, StartError } from '../service/config.js';

/** The secrets of one sign-in. All of them stay in the browser that began it. */
export interface OpenIdChecks {
  state: string;
  nonce: string;
  verifier: string;
}

export type OpenId = NonNullable<ReturnType<typeof createOpenId>>;

const timeoutSeconds = 10;
const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  name: z.string().trim().min(1).max(200).optional().catch(undefined),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  groups: z.array(z.string()).catch([]),
});

/** @param api - the address where people reach the relay. @returns undefined if the operator has no such service. @throws StartError */
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
      found = undefined; // The next sign-in asks again.
      throw error;
    });
    return found;
  };

  /** The claims of the ID token. Some services give the address only in the answer of the endpoint `userinfo`. */
  async function claimsOf(known: client.Configuration, tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>) {
    const claims = claimsSchema.parse(tokens.claims());
    if (claims.email !== undefined || known.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await client.fetchUserInfo(known, tokens.access_token, claims.sub);
    return claimsSchema.parse({ ...more, ...claims, groups: claims.groups.length > 0 ? claims.groups : more.groups });
  }

  return {
    name: server.host,

    /** @returns the page of the service where the person signs in. */
    async begin({ state, nonce, verifier }: OpenIdChecks): Promise<URL> {
      return client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    /** @param search - the query with which the service sent the browser back. @throws an error of the library */
    async finish(search: string, { state, nonce, verifier }: OpenIdChecks): Promise<Identity | { refused: string }> {
      const known = await configuration();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(known, new URL(search, redirectUri), checks);
      const claims = await claimsOf(known, tokens);
      const { iss, sub, email: given = '', email_verified: isVerified } = claims;
      const email = isVerified === true && isEmailAddress(given) ? addressOf(given) : undefined;
      if (domains && (email === undefined || !domains.includes(email.slice(email.lastIndexOf('@') + 1))))
        return { refused: `Your account needs a verified e-mail address of ${domains.join(' or ')}.` };
      return {
        issuer: iss,
        subject: sub,
        name: claims.name ?? email?.replace(/@.*/, '') ?? sub,
        email,
        grants: highest(groups, claims.groups),
      };
    },
  };
}

/** The grants of a person's groups. If several groups give a role in one company, the highest role counts. */
export function highest(all: readonly Grant[], groups: readonly string[]): Grant[] {
  const rank = ({ role }: Grant) => roles.indexOf(role);
  const given = all.filter(({ group }) => groups.includes(group)).sort((a, b) => rank(b) - rank(a));
  return given.filter((grant, place) => given.findIndex(({ companyId }) => companyId === grant.companyId) === place);
}
