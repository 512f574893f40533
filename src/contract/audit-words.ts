/** What each kind of audit entry says to people. In the audit log, the name of the person or key stands before these words. */

import { type Pausable, pausableWords } from '../chain/pause.js';
import { counted } from '../chain/text.js';
import type { Role } from './credential.js';
import { roleName } from './role-words.js';

type Details = Readonly<Record<string, unknown>>;

/** `{name}` stands for a detail of the entry. A chain is written with its assignment, a refused request with its rule. */
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
  'rule.door': 'changed the settings for the events of rule {relayId}',
  'rule.publish': 'published version {version} of rule {relayId}',
  'rule.go-back': 'published version {fromVersion} of rule {relayId} again, as version {version}',
  'rule.shadow': 'changed the trial of rule {relayId} on new events',
  'token.rotate': 'created a new token for rule {relayId}',
  'token.revoke': 'revoked a token of rule {relayId}',
  'person.add': 'added {name} as a {role}',
  'person.update': 'changed the name or role of {name}, who is now a {role}',
  'person.bind': 'signed in with an account at {issuer} for the first time',
  'person.remove': 'removed {name}',
  'key.create': 'created the key “{name}” with the role “{role}”',
  'key.delete': 'deleted the key “{name}”',
  'admin-token.create': 'created the admin token “{name}”',
  'admin-token.delete': 'deleted the admin token “{name}”',
  'encryption.rotate': 'changed the encryption key',
  'contact.confirm': 'confirmed the address of a contact',
  'notices.test': 'sent a test notice',
  'cause.take': 'began to work on a problem',
  'cause.release': 'removed the name of the person who works on a problem',
  'cause.silence': 'turned off or turned on the notices about a problem',
  'rejected.resend': 'sent {rejectedId} again',
  'rejected.drop': 'dropped {rejectedId}',
  'event.test': 'sent a test event to rule {relayId}',
  'event.resend': 'ran an event of rule {relayId} again',
  'chain.retry': 'retried step {index} of {chainId}',
  'chain.mend': 'edited and retried step {index} of {chainId}',
  'chain.skip': 'skipped step {index} of {chainId}',
  'chain.runNow': 'started step {index} of {chainId} before its planned time',
  'chain.reschedule': 'moved step {index} of {chainId} to another time',
  'chain.cancel': 'cancelled step {index} of {chainId}',
  'chain.bulk': '{verb} {count}',
} as const;

export type AuditAction = keyof typeof auditWords;

/** Returns other words if the details change the meaning of an entry, or undefined if the words in `auditWords` are right. */
function otherWords(action: string, { index, as, version, purpose, seconds, changed, waits }: Details): string | undefined {
  if (action === 'company.update' && Array.isArray(changed) && changed.length > 0)
    return `changed settings of the company: ${changed.map((name) => settings[String(name)] ?? String(name)).join(', ')}`;
  if (action === 'cause.silence') return `${seconds === 0 ? 'turned on' : 'turned off'} the notices about a problem`;
  if (action === 'chain.mend' && waits) return 'edited step {index} of {chainId} before it ran';
  if (action === 'chain.cancel' && index === undefined) return 'cancelled {chainId}';
  if (action === 'token.rotate' && purpose === 'event') return 'created a new address for events of rule {relayId}';
  if (action === 'rule.publish' && as === 'shadow')
    return 'stored version {version} of rule {relayId}, and began the trial of this version';
  if (action === 'rule.shadow')
    return version === null
      ? 'ended the trial of a version of rule {relayId}'
      : 'began the trial of version {version} of rule {relayId}';
  return undefined;
}

const settings: Readonly<Record<string, string>> = {
  ...{ timeZone: 'time zone', notify: 'contacts', platform: 'assignment platform', ticketing: 'ticket system' },
  ...{ noticeLinks: 'links in notices', noticeEdits: 'corrections by links in notices', weeklyDigest: 'weekly summary' },
  ...{ webhookSecret: 'key that signs webhooks', historyDays: 'days to keep closed chains', mail: 'mail server' },
};

/** What an order did to many chains. The number of chains follows. */
const verbs: Readonly<Record<string, string>> = {
  ...{ retry: 'retried', mend: 'edited and retried', skip: 'skipped steps of', cancel: 'cancelled steps of' },
  runNow: 'started steps of',
};

/** Only the first 8 characters of the id. The details of the entry have the whole id. */
const chainWords = (id: unknown) => (id === undefined ? 'a chain' : `chain ${String(id).slice(0, 8)}`);

/** For example `published version 3 of rule Night shift (4711)`. An unknown action has no words, only its name. */
export function auditSentence(action: string, details: Details, ruleName = (relayId: string) => relayId): string {
  const { relayId } = details;
  const words = otherWords(action, details) ?? (auditWords as Readonly<Record<string, string>>)[action] ?? action;
  return words.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = details[name];
    if (name === 'relayId') return ruleName(String(value));
    if (name === 'index') return String(Number(value) + 1); // people count steps from 1
    if (name === 'chainId') return details.assignmentId === undefined ? chainWords(value) : `assignment ${details.assignmentId}`;
    if (name === 'rejectedId') return `a refused request${relayId ? ` of rule ${ruleName(String(relayId))}` : ''}`;
    if (name === 'count') return counted(Number(value), 'chain');
    if (name === 'verb') return verbs[String(value)] ?? String(value);
    if (name === 'role') return roleName(value as Role);
    if (name === 'what')
      return [value]
        .flat()
        .map((what) => pausableWords[what as Pausable])
        .join(', ');
    return String(value ?? '…');
  });
}
