/** 404 for what the admin API knows by its ids. */

import type { Problem } from '../../contract/problem.js';
import { notFound } from '../problems.js';

export function noCompany(companyId: string): Problem {
  return notFound(`company ${companyId}`);
}

export function noRule(companyId: string, relayId: string): Problem {
  return notFound(`rule ${relayId} of company ${companyId}`);
}
