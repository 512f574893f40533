/** The admin API: companies, rules, tokens, keys and the audit, for the holder of the admin token. */

import type { Store } from '../store/store.js';
import { auditRoutes } from './admin/audit.js';
import { companyRoutes } from './admin/companies.js';
import { keyRoutes } from './admin/keys.js';
import { ruleRoutes } from './admin/rules.js';
import { tokenRoutes } from './admin/tokens.js';
import type { Route } from './route.js';

interface AdminOptions {
  store: Store;
  /** Is told where a company has nobody to notify. Without it every company must name somebody. */
  operatorEmail?: string;
}

export function adminRoutes({ store, operatorEmail }: AdminOptions): Route[] {
  return [
    ...companyRoutes(store, operatorEmail),
    ...ruleRoutes(store),
    ...tokenRoutes(store),
    ...keyRoutes(store),
    ...auditRoutes(store),
  ];
}
