/** The admin API: companies, rules, tokens, keys and the audit, for the holder of the admin token. */

import { Hono } from 'hono';
import type { Store } from '../store/store.js';
import { auditRoutes } from './admin/audit.js';
import { companyRoutes } from './admin/companies.js';
import { keyRoutes } from './admin/keys.js';
import { ruleRoutes } from './admin/rules.js';
import { tokenRoutes } from './admin/tokens.js';
import { type Authenticated, requireAdmin } from './authentication.js';
import { limitBody } from './body.js';

export interface AdminOptions {
  store: Store;
  adminToken: string;
  /** Told where a company has nobody to notify. Without it every company must name somebody. */
  operatorEmail?: string;
}

const maxBodyBytes = 256 * 1024;

/** The routes, for an app that answers problems: see answerProblems. */
export function adminRoutes(options: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .use('/admin/*', requireAdmin(options.adminToken))
    .use('/admin/*', limitBody(maxBodyBytes))
    .route('/', companyRoutes(options))
    .route('/', ruleRoutes(options))
    .route('/', tokenRoutes(options))
    .route('/', keyRoutes(options))
    .route('/', auditRoutes(options));
}
