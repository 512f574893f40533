/** Describes an assignment in one sentence: its status at the platform, the last send, the problem, and the next step. */

import { conditionOf } from '../chain/comparisons.js';
import { foundNobody, hasEnded } from '../chain/outcome.js';
import { conditionWords, deedWords, groupsOf } from '../chain/sentences.js';
import { capital, counted } from '../chain/text.js';
import type { ActionResource, AssignmentNow } from './types.js';
import { timeText, type Zone } from './when.js';
import { actionWords, failureTitle, labelled } from './words.js';

type Step = Pick<ActionResource, 'action' | 'state'> & Partial<ActionResource>;

/** For example `Send to group 501 within 5 miles`. Without the fields, only the kind of action. */
export const deedOf = ({ action, fields }: Pick<Step, 'action' | 'fields'>): string =>
  capital(fields ? deedWords({ action, ...fields }) : (actionWords[action] ?? action));

/** For example `at 7:51`, or `on 20 Nov, 7:51`. */
export function atTime(iso: string, zone: Zone, now: number): string {
  const time = timeText(iso, zone, now).replace(/:\d\d$/, '');
  return time.includes(',') ? `on ${time.replace(', 0', ', ')}` : `at ${time.replace(/^0/, '')}`;
}

/** @param steps - the actions of the assignment, the oldest first. @param current - undefined while the platform is asked. */
export function storyOf(current: AssignmentNow | undefined, steps: readonly Step[], zone: Zone, now: number): string {
  const sends = steps
    .filter(({ action, state }) => action === 'platform_sendAssignment' && state === 'done')
    .sort((one, other) => ((one.endedAt ?? '') < (other.endedAt ?? '') ? -1 : 1));
  const last = sends.at(-1);
  const paused = steps.find(({ pausedSince, state }) => pausedSince && !hasEnded(state));
  const [scheduled] = steps
    .filter(({ state }) => state === 'scheduled')
    .sort((one, other) => ((one.runAt ?? '') < (other.runAt ?? '') ? -1 : 1));
  const [next, isPaused] = [paused ?? scheduled, paused || scheduled?.reason];
  const isOver = steps.length > 0 && steps.every(({ state }) => hasEnded(state));
  // An answer from before the send no longer says how things are.
  const known = current && !current.problem && current.readAt < (last?.endedAt ?? '') ? undefined : current;
  const told = [
    statusWords(known, sends.length > 0),
    last && sentWords(last, sends),
    known?.status &&
      !['draft', last && 'sent'].includes(known.status) &&
      `${last && foundNobody(last) ? 'But the' : 'The'} status at the platform is “${known.status}”`,
    known?.status === 'sent' && sends.some((send) => !foundNobody(send)) && 'Nobody has accepted yet',
    troubleWords(steps, current?.problem?.missing),
    next
      ? `Next${isPaused ? ' step, when the pause ends' : ''}: ${nextWords(next, last)}${next.runAt && !isPaused ? ` ${atTime(next.runAt, zone, now)}` : ''}${only(next, known)}`
      : isOver && 'Nothing more is planned',
  ];
  return told.flatMap((words) => (words ? [`${words}.`] : [])).join(' ');
}

function statusWords({ status, problem }: Partial<AssignmentNow> = {}, wasSent: boolean): string {
  if (problem?.missing) return 'The platform does not have this assignment';
  if (problem) return `The relay cannot read the status of the assignment. ${problem.title}`;
  return status !== 'draft' ? '' : wasSent ? 'Still draft' : 'Draft';
}

function sentWords(send: Step, sends: readonly Step[]): string {
  const [recipients, count] = [send.result?.recipients, sends.length];
  const earlier = Math.max(...sends.map(({ result }) => result?.recipients ?? 0));
  const found = foundNobody(send) ? 'nobody' : recipients !== undefined && counted(recipients, 'technician');
  const to = deedOf(send).replace(/^Send( the assignment)?/, '');
  if (count === 1) return `Sent${to || ' to technicians'}${found ? `: ${found} found` : ''}`;
  if (sends.every(foundNobody)) return `Sent ${count} times, but nobody was found${to && `. Last sent${to}`}`;
  const most = foundNobody(send) && earlier > 0 ? `. Earlier: ${counted(earlier, 'technician')} found` : '';
  return `Sent ${count} times${most}${found || to ? `. Last sent${to}${found ? `: ${found} found` : ''}` : ''}`;
}

/** @param isSaid - whether the sentence says already that the assignment does not exist. */
function troubleWords(steps: readonly Step[], isSaid = false): string | undefined {
  const of = (wanted: Step['state']) => steps.filter(({ state }) => state === wanted).at(-1);
  const [held, retrying, failed] = [of('needs-attention'), of('retrying'), of('failed')];
  const why = ({ error, reason, assignmentId }: Step) =>
    error ? labelled(failureTitle({ ...error, assignmentId })) : (reason ?? 'no reason given');
  const needs = `${of('done') ? 'Another' : 'A'} step needs attention`;
  if (held) return isSaid ? needs : `${needs}: ${deedOf(held)}. Reason: ${why(held)}`;
  return retrying ? `Being retried: ${why(retrying)}` : failed && `Failed: ${why(failed)}`;
}

/** The words of the next step. After a send to the same groups, these words name only the radius. */
function nextWords(next: Step, last: Step | undefined): string {
  const [fields, before] = [next.fields ?? {}, last?.fields ?? {}];
  const isWider = next.action === last?.action && groupsOf(fields).join() === groupsOf(before).join() && fields.sendRadius;
  if (isWider && fields.sendRadius !== before.sendRadius) return `send within ${counted(Number(fields.sendRadius), 'mile')}`;
  const deed = deedOf(next);
  return deed.charAt(0).toLowerCase() + deed.slice(1);
}

/** The words of the condition of a step. A condition that is true now needs no words. */
function only({ fields = {} }: Step, { status }: Partial<AssignmentNow> = {}): string {
  const words = status === 'draft' ? '' : conditionWords(conditionOf(fields), true);
  return words && `, ${words}`;
}
