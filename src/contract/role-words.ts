/** What each role can do, in words for people. The console reads this file, so it does not import zod. */

import type { Role } from './credential.js';

export const roleWords: Record<Role, string> = {
  read: 'can see chains and refused requests',
  steer: 'can also retry, edit, skip and cancel, and send refused requests',
  author: 'can also write and publish rules, and make their tokens',
  manage: 'can also change settings, people and keys, and delete rules',
};
