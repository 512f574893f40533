/** The workflow types that a worker registers. */

export { BulkSteering } from './bulk-steering.js';
export { DelayedAction } from './delayed-action.js';
export { NoticeDelivery, Notifier } from './notifier.js';
export { RuleChain } from './rule-chain.js';
export { SettingsCheck } from './settings-check.js';
