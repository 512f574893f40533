/** Fetches access tokens of OAuth2. Uses a token until shortly before its end, or until the system refuses the token. */

import { z } from 'zod';
import type { OAuth2 } from '../contract/company.js';
import { beforeEffect, ConnectorError } from './call.js';
import type { HttpClient } from './http.js';
import type { Memory } from './session.js';
import { wordsOf } from './words.js';

type Http = Pick<HttpClient, 'request'>;
export type WithToken = ReturnType<typeof withTokens>;

const answerSchema = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().catch(3600) });

/** @param what - the place of the settings, for advice in errors. @param refusal - the status if the system refuses a token */
export function withTokens(settings: OAuth2, what: string, refusal: 401 | 535, http: Http, memory: Memory) {
  const { tokenUrl, clientId: client_id, clientSecret: client_secret, refreshToken: refresh_token, scope = '' } = settings;
  const grant = refresh_token ? { grant_type: 'refresh_token', refresh_token } : { grant_type: 'client_credentials', scope };
  const form = Object.entries({ ...grant, client_id, client_secret }).filter(([, value]) => value !== '');
  const [url, secrets] = [new URL(tokenUrl), [client_secret, refresh_token ?? '']];
  const about = { name: `the sign-in server ${url.host}`, thing: 'the sign-in' };
  const words = (as: 'credentials' | 'form') => wordsOf(as, about.name, about.thing, what);

  async function fetched(timeoutMs: number) {
    const asked = http.request({ method: 'POST', url, form, secrets, what, about, call: { timeoutMs } });
    const token = await asked.catch((error: unknown) => {
      const { status = 0 } = error instanceof ConnectorError ? error.facts : {};
      if ([400, 401, 403].includes(status)) throw beforeEffect(error, words('credentials')); // 400: RFC 6749, section 5.2
      throw beforeEffect(error, [404, 410].includes(status) ? words('form') : {});
    });
    const answer = answerSchema.safeParse(token);
    const without = `${url.host} answered without an access token; check ${what}`;
    if (!answer.success) throw new ConnectorError('permanent', without, words('form'));
    return { token: answer.data.access_token, until: Date.now() + (answer.data.expires_in - 60) * 1000 };
  }

  /** Makes the call. If the system refuses the token, makes the call again with a new token. */
  return async <Result>(timeoutMs: number, call: (token: string, leftMs: number) => Promise<Result>): Promise<Result> => {
    const end = Date.now() + timeoutMs;
    const leftMs = () => Math.max(1, end - Date.now());
    const known = await memory.of('token', async () => ({ token: '', until: 0 }), { minutes: Number.POSITIVE_INFINITY });
    const attempt = async (refused?: string): Promise<Result> => {
      // Calls do not share the fetch of a token: a call that waits for another call's fetch could miss its own timeout.
      if (known.token === refused || known.until <= Date.now()) Object.assign(known, await fetched(leftMs()));
      const { token } = known;
      return call(token, leftMs()).catch((error: unknown) => {
        if (refused === undefined && error instanceof ConnectorError && error.facts.status === refusal) return attempt(token);
        throw error;
      });
    };
    return attempt();
  };
}

/** Replaces `auth` of type `oauth2` by an access token. */
export function signingIn(http: Http, memoryOf: (settings: object) => Memory): Http {
  return {
    async request({ auth, ...request }) {
      const { what, call } = request;
      if (auth?.type !== 'oauth2') return http.request({ auth, ...request });
      const withToken = withTokens(auth, what, 401, http, memoryOf(auth));
      return withToken(call.timeoutMs, (token, timeoutMs) =>
        http.request({ ...request, auth: { type: 'bearer', token }, call: { ...call, timeoutMs } }),
      );
    },
  };
}
