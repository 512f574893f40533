/** The workflow types, as the worker registers them. */

export { BulkSteering } from './bulk-steering.js';
export { DelayedAction } from './delayed-action.js';
export { Notice } from './notice.js';
export { NoticeDigest } from './notice-digest.js';
export { NoticeTest } from './notice-test.js';
export { RuleChain } from './rule-chain.js';
