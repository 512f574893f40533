/** The words of notices about one action, or about many actions with the same cause. */

import type { ActionStatus } from '../chain/action-status.js';
import { type ChainFacts, historyFull, refusalOf } from '../chain/allowed-verbs.js';
import { causePage, chainLinks, chainPage, chainWorkflowId } from '../chain/chain.js';
import { chainStatus, hasEnded, retryHelps } from '../chain/outcome.js';
import { counted, cutShort, oneLine } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import { actionTitle } from '../chain/web-ui.js';
import { actionOf } from '../contract/causes.js';
import type { NoticeText } from '../contract/chain-resource.js';
import type { Cause, ChainNotice, FailureKind, ManyNotice, Member, NoticeKind, ThroughNotice } from '../contract/notices.js';
import { noticeKindOf } from '../contract/notices.js';
import { chainPlaces, lineText, type NoticeContext, relay, type Words } from './frame.js';

/** The notice writes `one` after the name of an action, and `many` after a number of chains. */
const wordsOf: Record<NoticeKind, [headline: string, one: string, many: string]> = {
  'needs-attention': ['Needs attention', 'failed and is held: it needs your decision.', 'held for the same reason.'],
  failed: [
    'Failed',
    'failed. The rest of the chain continues.',
    'with an action that failed, for the same reason. The rest of each chain continues.',
  ],
  'partly-failed': [
    'Partly failed',
    'did not reach every recipient. The rest of the chain continues.',
    'with an e-mail that did not reach every recipient, for the same reason.',
  ],
  'gave-up': [
    'Given up',
    'was held, and failed because nobody decided in time.',
    'failed, because they were held for the same reason and nobody decided in time.',
  ],
  recovered: ['Recovered', 'succeeded after all. The chain continues.', 'that failed for the same reason'],
};

const fix = 'Fix the problem, then retry';
const sendAgain = 'Send the e-mail to the recipients that did not get it. This also works after the chain has closed:';
const fixFailed: [few: string, many: string] = [
  `${fix}. This also works after the chain has closed. The retry also runs the actions that did not run because of the failure:`,
  `${fix} the closed chains (the command first counts the chains, and asks you to confirm). The retry also runs the actions that did not run:`,
];
/** @param line - an instruction above commands. */
function withRemedy(line: string, remedy: string | undefined): string[] {
  if (remedy === undefined) return [line];
  return /\bretry$/i.test(remedy) ? [line.replace(fix, () => remedy)] : [`${remedy}.`, line];
}
/** The text above the commands: `few` if each command retries one action, `many` if one command retries all actions. */
const remedies: Record<FailureKind, [few: string, many: string]> = {
  'needs-attention': [`${fix}:`, `${fix} all actions (the command first counts the chains, and asks you to confirm):`],
  failed: fixFailed,
  'partly-failed': [sendAgain, sendAgain],
  'gave-up': fixFailed,
};

/** @param chain - the current state of the chain. If `chain` is absent, the text shows the state from the notice. */
export function chainWords(notice: ChainNotice, context: NoticeContext, chain?: ChainFacts): Words {
  const { kind, chainId, receivedAt, index, actions } = notice;
  const action = actionOf(notice);
  const shown = timesIn(context.timeZone);
  const { assignmentId, state, reason, attempts, heldUntil, deliveries = [] } = action;
  const facts = chain ?? { chainId, status: chainStatus(actions), historyFull: reason === historyFull };
  const [headline, one] = wordsOf[kind];
  const isRecovered = kind === 'recovered';
  const undone = `is not needed any more: ${reason}. It is ${state}, and the chain continues.`;
  const links = chainLinks(context.links, notice, notice.runId);
  const decide = kind === 'needs-attention' ? context.holdLink?.({ ...notice, heldUntil }) : undefined;
  const webUi = links.webUi ? [{ label: 'Temporal Web UI', url: links.webUi }] : [];
  const others = (chosen: (other: ActionStatus) => boolean) => actions.filter((other) => other.index !== index && chosen(other));
  const heldBehindIt = others((other) => isHeldBehind(action, other));
  const isHeld = (other: ActionStatus) => other.state === 'needs-attention' || actions.some((held) => isHeldBehind(held, other));
  const heldElsewhere = others((other) => !heldBehindIt.includes(other) && isHeld(other));
  const goOn = others((other) => !hasEnded(other.state) && !heldBehindIt.includes(other) && !isHeld(other));
  return {
    headline: `${headline}: ${oneLine(action.comment ?? '') || action.action}`,
    about: `${context.ruleName}${assignmentId ? `, assignment ${assignmentId}` : ''}`,
    sentence: `${actionTitle(action)} — ${isRecovered && state !== 'done' ? undone : one}`,
    sections: {
      'What was wrong': [whatWasWrong(action) ?? 'no reason given'],
      Remark: action.result?.note ? [action.result.note] : [],
      'What happens now': kind === 'needs-attention' ? whatHappens(action, shown) : [],
      'What to do':
        kind === 'recovered' ? [] : [...withoutKey(decide), ...remedy(kind, action, notice, context, facts), ...webUi],
      Details: detailsOf(action.error),
      Where: [
        ...(assignmentId ? [`Assignment: ${assignmentId}`] : []),
        `Chain: ${chainId}, received ${shown(receivedAt)}`,
        `Happened: ${shown(notice.at)}${attempts ? ` after ${counted(attempts, 'attempt')}` : ''}`,
        ...(isRecovered ? webUi : []),
        ...chainPlaces(context.links, notice),
      ],
      Done: others(({ state }) => state === 'done').map(actionTitle),
      'Waiting for this action': heldBehindIt.map(actionTitle),
      'Also held': heldElsewhere.map(actionTitle),
      'Not run': others(({ state }) => state === 'not-run').map(actionTitle),
      'Will still run': goOn.map((other) => `${actionTitle(other)}${other.runAt ? `, due ${shown(other.runAt)}` : ''}`),
      Recipients: deliveries.map(({ recipient, sent, error }) => `${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`),
    },
    facts: {
      chain: { chainId, workflowId: chainWorkflowId(notice), receivedAt },
      action,
      actions,
      links: { ...links, ...(decide !== undefined && { decide }) },
    },
  };
}

/** Writes a notice about an action's state now, without the section `Where`. @returns undefined if the state needs no notice. */
export function standingWords(
  chain: Omit<ChainNotice, 'kind' | 'at'> & ChainFacts,
  context: NoticeContext,
): NoticeText | undefined {
  const kind = noticeKindOf(actionOf(chain).state);
  if (kind === undefined) return undefined;
  const { headline, sentence, sections } = chainWords({ ...chain, kind, at: chain.receivedAt }, context, chain);
  const shown = Object.entries(sections).filter(([title, lines]) => title !== 'Where' && lines.length > 0);
  return { headline, sentence, sections: shown.map(([title, lines]) => ({ title, lines: lines.map(lineText) })) };
}

/** Returns the title of the error, or the error as `message (Type)`. If there is no error, returns the reason of the action. */
export function whatWasWrong({ error, reason }: Pick<ActionStatus, 'error' | 'reason'>): string | undefined {
  return error ? (error.title ?? `${error.message} (${error.type})`) : reason;
}

/** What was answered to which call, if a title says the rest. */
export function detailsOf(error: Partial<Cause['reason']> = {}): string[] {
  return error.title === undefined ? [] : [`${error.message} (${error.type})`];
}

/** Whether an action waits for the held action. Actions with the same due time run one after the other. */
export function isHeldBehind(held: ActionStatus, { state, runAt, index }: ActionStatus): boolean {
  return held.state === 'needs-attention' && state === 'pending' && runAt === held.runAt && index > held.index;
}

function whatHappens({ nextAttemptAt, heldUntil, reason }: ActionStatus, shown: (iso: string) => string): string[] {
  const tries = reason
    ? `${reason}.`
    : nextAttemptAt
      ? `The relay retries the action automatically, next at ${shown(nextAttemptAt)}. You get a notice when it succeeds.`
      : 'The relay does not retry the action automatically: fix the problem first.';
  if (!heldUntil) return [tries];
  const end = 'If nobody decides by then, it fails, and the actions that wait for it do not run.';
  return [tries, `The action is held until ${shown(heldUntil)}. ${end}`];
}

function remedy(kind: FailureKind, action: ActionStatus, notice: ChainNotice, context: NoticeContext, chain: ChainFacts) {
  const { companyId, chainId, index } = notice;
  const [retryFew] = remedies[kind];
  const steer = (verb: string) => relay(`${verb} ${companyId} ${chainId} ${index}`, context);
  const signal = (name: string) =>
    `temporal workflow signal -n ${context.namespace} -w ${chainWorkflowId(notice)} --name ${name} -i '[${index}]'`;
  const refused = refusalOf('retry', chain, action)?.detail;
  const { error } = action;
  const fixIt = withRemedy(retryFew, error?.remedy);
  if (kind !== 'needs-attention') return refused === undefined ? [...fixIt, steer('retry')] : [refused];
  const inData = 'Edit the fields of the request (`chains fields` shows them):';
  const orInData = 'If a field of the request must change (`chains fields` shows them):';
  const edit = relay(`chains mend ${companyId} ${chainId} ${index} --set field=value`, context);
  const inSettings = 'If a setting was wrong, fix it, then retry:';
  const inWebUi = `Or use the Web UI: More Actions, Send a Signal. Choose the signal retry or skip, and enter [${index}] as input.`;
  const skip = [steer('skip'), signal('skip')];
  if (refused !== undefined) return refusalOf('skip', chain, action) ? [refused] : ['Skip it:', ...skip];
  const retry = [steer('retry'), signal('retry')];
  const first = retryHelps(action)
    ? [...fixIt, ...retry, ...(error && !error.retryable && !error.unknown ? [orInData, edit] : [])]
    : [...(error?.remedy ? [`${error.remedy}.`] : []), inData, edit, inSettings, ...retry];
  return [...first, 'Or skip it:', ...skip, ...(context.links.webUi ? [inWebUi] : [])];
}

const withoutKey = (url?: string) => (url ? [{ label: 'Retry or skip the action in a browser, without a key', url }] : []);
export const oneWithoutKey = 'Retry or skip an action in a browser, without a key';

/** If a notice is about at most this many actions, it shows one command for each action. */
const fewActions = 3;
const behind = 'The actions that wait for them do not run.';

export function manyWords({ cause, count, actions, first, since, at }: ManyNotice, context: NoticeContext): Words {
  const { companyId, kind, reason } = cause;
  const { type, remedy } = reason;
  const { api } = context.links;
  const shown = timesIn(context.timeZone);
  const [headline, , many] = wordsOf[kind];
  const [retryFew, retryAll] = remedies[kind];
  const isHeld = kind === 'needs-attention';
  const status = isHeld ? kind : 'failed';
  const [heldUntil] = first.flatMap(({ heldUntil }) => heldUntil ?? []).sort();
  const few = actions <= fewActions && first.length === actions;
  const commands = first.map(({ chainId, index }) => relay(`retry ${companyId} ${chainId} ${index}`, context));
  const all = relay(`bulk retry ${companyId}${isHeld ? '' : ' --status failed'} --reason ${type} --since ${since}`, context);
  const seeTo = [
    'Tell others that you work on this cause, or silence its notices for a while:',
    relay(`causes take ${companyId} ${cause.id}`, context),
    relay(`causes silence ${companyId} ${cause.id} 4h`, context),
  ];
  const decideAt = ({ chainId, index, at, heldUntil }: Member) =>
    isHeld ? context.holdLink?.({ companyId, chainId, index, at, heldUntil }) : undefined;
  const each = first.some((member) => decideAt(member) !== undefined) ? oneWithoutKey : 'The actions';
  const query = `status=${status}&reason=${encodeURIComponent(type)}&since=${encodeURIComponent(since)}`;
  return {
    headline: `${headline}: ${counted(count, 'chain')}, ${type}`,
    about: context.companyName,
    sentence: `${counted(count, 'chain')}${actions > count ? ` (${actions} actions)` : ''} ${many}`,
    sections: {
      'What was wrong': [
        reason.title ?? `${first[0]?.message ?? reason.message} (${type})`,
        ...(count > 1 ? ['In other chains, the ids and numbers in this error differ.'] : []),
      ],
      'What happens now': heldUntil
        ? [`If nobody decides, these actions fail, the first one at ${shown(heldUntil)}. ${behind}`]
        : [],
      'What to do': [
        ...withRemedy(few ? retryFew : retryAll, remedy),
        ...(few || kind === 'partly-failed' ? commands : [all]),
        ...(isHeld && count > 1 ? ['You get one notice when none of these actions is held any more.'] : []),
        ...(isHeld ? seeTo : []),
      ],
      Details: detailsOf(reason),
      [first.length < count ? `${each} (the first ${first.length})` : each]: first.map((member) => ({
        label: titleOf(member),
        url: decideAt(member) ?? chainPage(api, { companyId, chainId: member.chainId }),
      })),
      Where: [
        `Happened: ${shown(at)}`,
        ...(isHeld ? [{ label: 'The page of the cause (needs a key)', url: causePage(api, companyId, cause.id) }] : []),
        { label: 'All chains in the API (needs a token)', url: `${api}/co/${companyId}/chains?${query}` },
      ],
    },
    type: `${kind}.many`,
    facts: { causeId: isHeld ? cause.id : undefined, reason, since, count, actions, first },
  };
}

function titleOf({ assignmentId, index }: Pick<Member, 'assignmentId' | 'index'>): string {
  return `${assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain'}, action ${index}`;
}

export function throughWords(
  { cause, through, ended, open, since, at }: ThroughNotice,
  { companyName, timeZone }: NoticeContext,
): Words {
  const { reason } = cause;
  const [recovered, , many] = wordsOf.recovered;
  const areDone = Object.keys(ended).every((state) => state === 'done');
  const end = areDone ? `${through === 1 ? 'has' : 'have'} recovered` : 'no longer need attention';
  const tally = Object.entries(ended).map(([state, count]) => `${state}: ${count}`);
  return {
    headline: `${areDone ? recovered : 'No longer held'}: ${counted(through, 'chain')}, ${reason.type}`,
    about: companyName,
    sentence: `${counted(through, 'chain')} ${many} ${end}.`,
    sections: {
      'State of the actions': [...tally, ...(open > 0 ? [`unknown: ${open}`] : [])],
      'What was wrong': [reason.title ?? `${reason.message} (${reason.type})`],
      Where: [`Happened: ${timesIn(timeZone)(at)}`],
    },
    type: 'recovered.many',
    facts: { reason, since, count: through, ended, open },
  };
}
