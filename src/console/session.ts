/** The signed-in user, and what the user's role permits. Pages hide forbidden parts, and the API refuses forbidden requests. */

import { signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CompanyFacts } from '../contract/company.js';
import type { Role } from '../contract/credential.js';

export type Session = { kind: 'admin' | 'key' | 'person'; name?: string; companyId?: string; role?: Role };
export const session = signal<Session | undefined>(undefined);
const ranks: Record<Role, number> = { read: 0, steer: 1, author: 2, manage: 3 };

export function may(role: Role): boolean {
  const { kind, role: own = 'read' } = session.value ?? { kind: 'key' };
  return kind === 'admin' || ranks[own] >= ranks[role];
}

export const isOperator = () => session.value?.kind === 'admin';
export type Company = ReturnType<typeof useCompany>;
export const CompanyContext = createContext<CompanyFacts | undefined>(undefined);

export function useCompany() {
  const company = useContext(CompanyContext);
  if (!company) throw new Error('this page has no company');
  const ruleOf = (relayId: string) => company.rules.find((rule) => rule.relayId === relayId)?.name;
  /** For example `Night shift (4711)`. Returns only the id if the rule was deleted. */
  const ruleName = (relayId: string) => (ruleOf(relayId) ? `${ruleOf(relayId)} (${relayId})` : relayId);
  return { ...company, ruleOf, ruleName };
}
