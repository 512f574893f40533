/** Checks recipients against the allowed domains and the daily limit. They come from requests, edits and assignments. */

import { isOfDomains } from '../chain/address.js';
import type { Issue } from '../chain/request.js';
import { domainsRule } from '../contract/company.js';
import { Rejection, type RejectionReason } from '../contract/problem.js';
import type { Store } from '../store/store.js';

interface RecipientStore {
  settings: Pick<Store['settings'], 'of'>;
  usage: Pick<Store['usage'], 'of' | 'add'>;
}

/**
 * Checks and counts recipients that come after the request, such as recipients that an edit adds. @param count - how many of these
 * recipients are not counted yet (default: all). @returns the problems. @throws Rejection 429 above the daily limit.
 */
export type AdmitRecipients = (companyId: string, recipients: readonly string[], count?: number) => Promise<Issue[]>;

/** @param standard - the daily limit of a company without its own limit. */
export function admitRecipients(store: RecipientStore, standard: number): AdmitRecipients {
  return async (companyId, recipients, count = recipients.length) => {
    const { company } = (await store.settings.of(companyId)) ?? {};
    const detail = outside(recipients, company?.mail?.recipientDomains);
    if (detail !== undefined) return [{ pointer: '/emails', detail }];
    assertLeft(store, companyId, count, company?.limits?.recipientsPerDay ?? standard);
    store.usage.add(companyId, { actions: 0, recipients: count });
    return [];
  };
}

/** @throws Rejection 429 if these recipients exceed today's limit. */
export function assertLeft({ usage }: Pick<RecipientStore, 'usage'>, companyId: string, count: number, most: number): void {
  if (count > 0 && usage.of(companyId).recipients + count > most)
    throw overDaily('recipients-per-day', `${most} e-mail recipients`, companyId);
}

/** @returns the problem if the company's allowed domains exclude a recipient, otherwise undefined. */
export function outside(recipients: readonly string[], domains?: readonly string[]): string | undefined {
  const found = domains ? recipients.filter((one) => !isOfDomains(one, domains)) : [];
  return domains && found.length > 0 ? `${found.join(', ')}: ${domainsRule(domains)}` : undefined;
}

export function overDaily(reason: RejectionReason, most: string, companyId: string): Rejection {
  const secondsOfDay = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
  const detail = `Company ${companyId} would exceed its limit of ${most} a day (UTC). Nothing has run.`;
  return new Rejection(reason, 'quota-exceeded', detail, { headers: { 'Retry-After': String(secondsOfDay) } });
}
