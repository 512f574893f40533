/** The types of the API's requests and answers. */

export type { z } from 'zod';
export type * from '../contract/assignment.js';
export type * from '../contract/audit.js';
export type * from '../contract/causes.js';
export type * from '../contract/chain-resource.js';
export type * from '../contract/company.js';
export type * from '../contract/credential.js';
export type * from '../contract/dry-run.js';
export type * from '../contract/health.js';
export type * from '../contract/notify.js';
export type * from '../contract/person.js';
export type * from '../contract/problem.js';
export type * from '../contract/rule.js';
export type * from '../contract/rule-contents.js';
export type * from '../contract/rule-event.js';
export type * from '../contract/search.js';
