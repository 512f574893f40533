/** The workflow types, as the worker registers them. */

export { DelayedAction } from './delayed-action.js';
export { RuleChain } from './rule-chain.js';
