/** The words for people about who is signed in, and what a role permits. */

import type { Role } from './credential.js';

/** The name of each role, and what it adds to the roles above it. The API has other names: a dispatcher has the role `steer`. */
export const roleWords: Record<Role, string> = {
  read: 'viewer: sees chains and rules, changes nothing',
  steer: 'dispatcher: retries, edits, skips and cancels steps',
  author: 'rule author: writes and publishes rules',
  manage: 'manager: pauses systems, and changes settings, people and keys',
};

/** For example `dispatcher` for `steer`. */
export const roleName = (role: Role): string => roleWords[role].replace(/:.*/, '');

/** For example `Signed in as Ada (role: dispatcher)`. */
export function signedInWords({ role, ...who }: Pick<Who, 'kind' | 'name'> & { role?: Role | undefined }): string {
  const may = role === undefined ? '' : ` (role: ${roleName(role)})`;
  return `Signed in ${who.kind === 'key' || (who.kind === 'admin' && who.name) ? 'with' : 'as'} ${callerWords(who)}${may}`;
}

type Who = { kind: 'admin' | 'key' | 'person' | 'link'; name?: string | undefined; contact?: string };

/** For example `the administrator`, `the admin token “dana”`, `the key “dashboard”` or, for a person, `Ada`. */
export function callerWords({ kind, name, contact }: Who): string {
  if (kind === 'link') return `the link in a notice to ${contact}`;
  if (kind === 'admin') return name === undefined ? 'the administrator' : `the admin token “${name}”`;
  return kind === 'key' ? `the key “${name}”` : (name ?? 'a person');
}
