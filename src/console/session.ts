/** Who looks, and what they may do. What a role may not do is not offered; what counts is that the API refuses it. */

import { signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CompanyFacts } from '../contract/company.js';
import type { Role } from '../contract/credential.js';
import type { Resource } from './resource.js';

export interface Session {
  kind: 'admin' | 'key';
  name?: string;
  companyId?: string;
  role?: Role;
}

export const session = signal<Session | undefined>(undefined);

const ranks: Record<Role, number> = { read: 0, steer: 1, manage: 2 };

export function may(role: Role): boolean {
  const { kind, role: own = 'read' } = session.value ?? { kind: 'key' };
  return kind === 'admin' || ranks[own] >= ranks[role];
}

export const isOperator = () => session.value?.kind === 'admin';

/** The company whose pages are shown. */
export interface Company extends CompanyFacts {
  refresh: Resource<CompanyFacts>['refresh'];
}

export const CompanyContext = createContext<Company | undefined>(undefined);

export function useCompany(): Company {
  const company = useContext(CompanyContext);
  if (!company) throw new Error('this page is outside of a company');
  return company;
}

export function ruleOf({ rules }: Pick<CompanyFacts, 'rules'>, relayId: string | undefined) {
  return rules.find((rule) => rule.relayId === relayId);
}

/** `Night shift (4711)`; of a rule that is not there any more, its id. */
export function ruleName({ rules }: Pick<CompanyFacts, 'rules'>, relayId: string): string {
  const rule = ruleOf({ rules }, relayId);
  return rule ? `${rule.name} (${relayId})` : relayId;
}
