/** Every command by its name. */

import { audit } from './commands/audit.js';
import { bulkCancel, bulkRetry, bulkRunNow, bulkSkip, showBulk } from './commands/bulk.js';
import { listChains, showChain } from './commands/chains.js';
import { deleteCompany, listCompanies, setCompany, showCompany } from './commands/companies.js';
import { health } from './commands/health.js';
import { createKey, deleteKey, listKeys } from './commands/keys.js';
import { testNotices } from './commands/notices.js';
import { pause, pauses, unpause } from './commands/pause.js';
import { listRejected, resendRejected, showRejected } from './commands/rejected.js';
import { createRule, deleteRule, disableRule, enableRule, listRules, setRule, showRule } from './commands/rules.js';
import { send } from './commands/send.js';
import { cancel, reschedule, retry, runNow, skip } from './commands/steering.js';
import { listTokens, revokeToken, rotateToken } from './commands/tokens.js';
import type { Commands } from './help.js';

export const commands: Commands = {
  'companies list': listCompanies,
  'companies show': showCompany,
  'companies set': setCompany,
  'companies delete': deleteCompany,
  'rules list': listRules,
  'rules show': showRule,
  'rules create': createRule,
  'rules set': setRule,
  'rules enable': enableRule,
  'rules disable': disableRule,
  'rules delete': deleteRule,
  'tokens list': listTokens,
  'tokens rotate': rotateToken,
  'tokens revoke': revokeToken,
  'keys list': listKeys,
  'keys create': createKey,
  'keys delete': deleteKey,
  send,
  'chains list': listChains,
  'chains show': showChain,
  retry,
  skip,
  'run-now': runNow,
  reschedule,
  cancel,
  'bulk retry': bulkRetry,
  'bulk skip': bulkSkip,
  'bulk cancel': bulkCancel,
  'bulk run-now': bulkRunNow,
  'bulk show': showBulk,
  pause,
  unpause,
  pauses,
  'notices test': testNotices,
  'rejected list': listRejected,
  'rejected show': showRejected,
  'rejected resend': resendRejected,
  audit,
  health,
};
