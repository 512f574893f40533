/** Every command. A new one is a file in `commands/`, or a part of the file of its subject, and a line here. */

import type { Command } from '@commander-js/extra-typings';
import { audit } from './commands/audit.js';
import { bulk } from './commands/bulk.js';
import { chains } from './commands/chains.js';
import { companies } from './commands/companies.js';
import { health } from './commands/health.js';
import { keys } from './commands/keys.js';
import { notices } from './commands/notices.js';
import { pause } from './commands/pause.js';
import { rejected } from './commands/rejected.js';
import { rules } from './commands/rules.js';
import { send } from './commands/send.js';
import { steer } from './commands/steer.js';
import { tokens } from './commands/tokens.js';
import type { Session } from './session.js';

/** In the order of `relay --help`. Each adds its commands to the program; their actions use the session. */
export const commands: readonly ((relay: Command, session: Session) => void)[] = [
  companies,
  rules,
  tokens,
  keys,
  send,
  chains,
  steer,
  bulk,
  pause,
  notices,
  rejected,
  audit,
  health,
];
