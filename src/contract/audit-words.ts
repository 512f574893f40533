/** What each kind of audit entry says to people. In the audit log, the name of the person or key stands before these words. */

import { type Pausable, pausableWords } from '../chain/pause.js';
import type { Role } from './credential.js';
import { roleName } from './role-words.js';

type Details = Readonly<Record<string, unknown>>;

/** `{name}` stands for a detail of the entry. */
export const auditWords = {
  'company.create': 'created the company',
  'company.update': 'changed the settings of the company',
  'company.delete': 'deleted the company',
  'company.erase': 'erased the chains of the deleted company',
  'company.pause': 'paused {what}',
  'company.resume': 'ended the pause of {what}',
  'rule.create': 'created rule {relayId}',
  'rule.update': 'changed the settings of rule {relayId}',
  'rule.delete': 'deleted rule {relayId}',
  'rule.door': 'changed how rule {relayId} accepts events',
  'rule.publish': 'published version {version} of rule {relayId}',
  'rule.go-back': 'published version {fromVersion} of rule {relayId} again, as version {version}',
  'rule.shadow': 'changed which version of rule {relayId} is tried on new events',
  'token.rotate': 'made a new token for rule {relayId}',
  'token.revoke': 'revoked a token of rule {relayId}',
  'person.add': 'added {name} as {role}',
  'person.update': 'changed the name or role of {name}, who is now {role}',
  'person.bind': 'signed in with the account of {name} for the first time',
  'person.remove': 'removed {name}',
  'key.create': 'created the key {name} with the role {role}',
  'key.delete': 'deleted the key {name}',
  'admin-token.create': 'created the admin token {name}',
  'admin-token.delete': 'deleted the admin token {name}',
  'encryption.rotate': 'began to encrypt with another key',
  'contact.confirm': 'confirmed the address of a contact',
  'notices.test': 'sent a test notice',
  'cause.take': 'began to work on a problem',
  'cause.release': 'stopped working on a problem',
  'cause.silence': 'muted or unmuted the notices about a problem',
  'rejected.resend': 'sent a refused request again',
  'rejected.drop': 'dropped a refused request',
  'event.test': 'sent a test event to rule {relayId}',
  'event.resend': 'ran an event of rule {relayId} again',
  'chain.retry': 'retried action {index} of a chain',
  'chain.mend': 'edited and retried action {index} of a chain',
  'chain.skip': 'skipped action {index} of a chain',
  'chain.runNow': 'ran action {index} of a chain now',
  'chain.reschedule': 'moved action {index} of a chain to another time',
  'chain.cancel': 'cancelled action {index} of a chain',
  'chain.bulk': 'decided about {count} chains at once: {verb}',
} as const;

export type AuditAction = keyof typeof auditWords;

/** Returns other words if the details change the meaning of an entry, or undefined if the words in `auditWords` are right. */
function otherWords(action: string, { index, as, version }: Details): string | undefined {
  if (action === 'chain.cancel' && index === undefined) return 'cancelled a chain';
  if (action === 'rule.publish' && as === 'shadow') return 'stored version {version} of rule {relayId}, to try it without effect';
  if (action === 'rule.shadow')
    return version === null
      ? 'ended the trial of a version of rule {relayId}'
      : 'began to try version {version} of rule {relayId} without effect';
  return undefined;
}

const verbs: Readonly<Record<string, string>> = { mend: 'edit and retry', runNow: 'run now' };

/** For example `published version 3 of rule Night shift (4711)`. An unknown action has no words, only its name. */
export function auditSentence(action: string, details: Details, ruleName = (relayId: string) => relayId): string {
  const words = otherWords(action, details) ?? (auditWords as Readonly<Record<string, string>>)[action] ?? action;
  return words.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = details[name];
    if (name === 'relayId') return ruleName(String(value));
    if (name === 'role') return roleName(value as Role);
    if (name === 'what')
      return [value]
        .flat()
        .map((what) => pausableWords[what as Pausable])
        .join(', ');
    return verbs[String(value)] ?? String(value ?? '…');
  });
}
