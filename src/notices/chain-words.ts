/** The words of notices about what happened to one action, or to many for the same cause. */

import type { ActionStatus } from '../chain/action-status.js';
import { causePage, chainLinks, chainWorkflowId } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { cutShort, oneLine } from '../chain/text.js';
import { actionTitle, shownTime } from '../chain/web-ui.js';
import { actionOf } from '../contract/causes.js';
import type { NoticeText } from '../contract/chain-resource.js';
import {
  type ChainNotice,
  type FailureKind,
  type ManyNotice,
  type Member,
  type NoticeKind,
  noticeKindOf,
  type ThroughNotice,
} from '../contract/notices.js';
import { chainPlaces, lineText, type NoticeContext, relay, type Words } from './frame.js';

/** What happened, to one action and to many chains. */
const wordsOf: Record<NoticeKind, [headline: string, one: string, many: string]> = {
  'needs-attention': ['Needs attention', 'could not be done and is held.', 'held, for the same reason.'],
  failed: [
    'Failed',
    'could not be done. The rest of the chain goes on.',
    'with an action that failed, for the same reason. What is left of them goes on.',
  ],
  'partly-failed': [
    'Partly failed',
    'did not reach everybody. The rest of the chain goes on.',
    'with an e-mail that did not reach everybody, for the same reason.',
  ],
  'gave-up': [
    'Given up',
    'was held, and nobody decided in time. It has failed.',
    'failed: held for the same reason, and nobody decided in time.',
  ],
  recovered: ['Recovered', 'has been done after all. The chain goes on.', 'that had failed for the same reason'],
};

const mend = 'Mend what was wrong, then retry';
const follows = 'What was not run because of it follows:';
const sendAgain = 'Send it to those without a copy, also when the chain has closed:';
const mendFailed: [few: string, many: string] = [
  `${mend}, also when the chain has closed. ${follows}`,
  `${mend} those that have closed (it counts first, and asks). ${follows}`,
];
/** What to do, above the commands that retry a few actions, or the one that retries many. */
const mendsOf: Record<FailureKind, [few: string, many: string]> = {
  'needs-attention': [`${mend}:`, `${mend} them all (it counts first, and asks):`],
  failed: mendFailed,
  'partly-failed': [sendAgain, sendAgain],
  'gave-up': mendFailed,
};

export function chainWords(notice: ChainNotice, context: NoticeContext): Words {
  const { kind, chainId, receivedAt, index, actions } = notice;
  const action = actionOf(notice);
  const { assignmentId, state, reason, attempts, deliveries = [] } = action;
  const [headline, one] = wordsOf[kind];
  const isRecovered = kind === 'recovered';
  const undone = `need not be done any more: ${reason}. It is ${state}, and the chain goes on.`;
  const links = chainLinks(context.links, notice, notice.runId);
  const { heldUntil } = action;
  const decide = kind === 'needs-attention' ? context.holdLink?.({ ...notice, heldUntil }) : undefined;
  const webUi = links.webUi ? [{ label: 'Temporal Web UI', url: links.webUi }] : [];
  const others = (chosen: (other: ActionStatus) => boolean) => actions.filter((other) => other.index !== index && chosen(other));
  const heldBehindIt = others((other) => isHeldBehind(action, other));
  const heldElsewhere = others(
    (other) =>
      !heldBehindIt.includes(other) && (other.state === 'needs-attention' || actions.some((held) => isHeldBehind(held, other))),
  );
  const goOn = others((other) => !hasEnded(other.state) && ![...heldBehindIt, ...heldElsewhere].includes(other));
  return {
    headline: `${headline}: ${oneLine(action.comment ?? '') || action.action}`,
    about: `${context.ruleName}${assignmentId ? `, assignment ${assignmentId}` : ''}`,
    sentence: `${actionTitle(action)} — ${isRecovered && state !== 'done' ? undone : one}`,
    sections: {
      'What was wrong': [whatWasWrong(action) ?? 'nothing was said'],
      'What happens now': kind === 'needs-attention' ? whatHappens(action) : [],
      'To put it right':
        kind === 'recovered'
          ? []
          : [
              ...(decide === undefined ? [] : [{ label: withoutKey, url: decide }]),
              ...remedy(kind, action, notice, context),
              ...webUi,
            ],
      Where: [
        ...(assignmentId ? [`Assignment: ${assignmentId}`] : []),
        `Chain: ${chainId}, received ${shownTime(receivedAt)}`,
        `Happened: ${shownTime(notice.at)}${attempts ? ` after ${counted(attempts, 'attempt')}` : ''}`,
        ...(isRecovered ? webUi : []),
        ...chainPlaces(context.links, notice),
      ],
      Done: others(({ state }) => state === 'done').map(actionTitle),
      'Held behind it': heldBehindIt.map(actionTitle),
      'Held elsewhere': heldElsewhere.map(actionTitle),
      'Not run': others(({ state }) => state === 'not-run').map(actionTitle),
      'Will still run': goOn.map((other) => `${actionTitle(other)}${other.runAt ? `, due ${shownTime(other.runAt)}` : ''}`),
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

/** What a notice says of an action as it stands, but for where it is; undefined: there is nothing to tell of it. */
export function standingWords(chain: Omit<ChainNotice, 'kind' | 'at'>, context: NoticeContext): NoticeText | undefined {
  const kind = noticeKindOf(actionOf(chain).state);
  if (kind === undefined) return undefined;
  const { headline, sentence, sections } = chainWords({ ...chain, kind, at: chain.receivedAt }, context);
  const shown = Object.entries(sections).filter(([title, lines]) => title !== 'Where' && lines.length > 0);
  return { headline, sentence, sections: shown.map(([title, lines]) => ({ title, lines: lines.map(lineText) })) };
}

/** `message (Type)`, or the reason of what has no error. */
export function whatWasWrong({ error, reason }: Pick<ActionStatus, 'error' | 'reason'>): string | undefined {
  return error ? `${error.message} (${error.type})` : reason;
}

/** What is due together runs in one sequence. */
export function isHeldBehind(held: ActionStatus, { state, runAt, index }: ActionStatus): boolean {
  return held.state === 'needs-attention' && state === 'pending' && runAt === held.runAt && index > held.index;
}

function whatHappens({ nextAttemptAt, heldUntil, reason }: ActionStatus): string[] {
  const tries = reason
    ? `${reason}.`
    : nextAttemptAt
      ? `The relay goes on trying by itself, next at ${shownTime(nextAttemptAt)}, and says so when it comes through.`
      : 'The relay does not try again by itself: this has to be put right first.';
  if (!heldUntil) return [tries];
  const end = 'If nobody has decided by then, it fails, and what stands behind it is not run.';
  return [tries, `It is held until ${shownTime(heldUntil)}. ${end}`];
}

function remedy(kind: FailureKind, { error, reason }: ActionStatus, notice: ChainNotice, context: NoticeContext): string[] {
  const { companyId, chainId, index } = notice;
  const [mendFew] = mendsOf[kind];
  const steer = (verb: string) => relay(`${verb} ${companyId} ${chainId} ${index}`, context);
  const signal = (name: string) =>
    `temporal workflow signal -n ${context.namespace} -w ${chainWorkflowId(notice)} --name ${name} -i '[${index}]'`;
  if (kind !== 'needs-attention') return [mendFew, steer('retry')];
  const inData = 'Mend what came with the request, by the names of its fields (`chains fields` shows them):';
  const mendIt = relay(`chains mend ${companyId} ${chainId} ${index} --set field=value`, context);
  const inSettings = 'Or if a setting was at fault, mend it, then retry:';
  const inWebUi = `Or in the Web UI: More Actions, Send a Signal, retry or skip, input [${index}].`;
  const skip = [steer('skip'), signal('skip')];
  if (reason) return ['Go on without it:', ...skip];
  const first = error?.type === 'DataMistake' ? [inData, mendIt, inSettings] : [mendFew];
  return [...first, steer('retry'), signal('retry'), 'Or go on without it:', ...skip, ...(context.links.webUi ? [inWebUi] : [])];
}

const withoutKey = 'Retry or skip it in a browser, without a key';
const oneWithoutKey = 'Retry or skip one in a browser, without a key';

/** No more actions than these are retried one by one. */
const fewActions = 3;

export function manyWords({ cause, count, actions, first, since, at }: ManyNotice, context: NoticeContext): Words {
  const { companyId, kind, reason } = cause;
  const { type } = reason;
  const [headline, , many] = wordsOf[kind];
  const [mendFew, mendMany] = mendsOf[kind];
  const isHeld = kind === 'needs-attention';
  const status = isHeld ? kind : 'failed';
  const [heldUntil] = first.flatMap(({ heldUntil }) => heldUntil ?? []).sort();
  const few = actions <= fewActions && first.length === actions;
  const each = first.map(({ chainId, index }) => relay(`retry ${companyId} ${chainId} ${index}`, context));
  const all = relay(`bulk retry ${companyId}${isHeld ? '' : ' --status failed'} --reason ${type} --since ${since}`, context);
  const seeTo = [
    'So that others know that you see to it; or to hear of no further ones for a while:',
    relay(`causes take ${companyId} ${cause.id}`, context),
    relay(`causes silence ${companyId} ${cause.id} 4h`, context),
  ];
  const decisions = first.flatMap(({ chainId, index, at, heldUntil, assignmentId }) => {
    const url = isHeld ? context.holdLink?.({ companyId, chainId, index, at, heldUntil }) : undefined;
    return url === undefined ? [] : [{ label: titleOf({ assignmentId, index }), url }];
  });
  const query = `status=${status}&reason=${encodeURIComponent(type)}&since=${encodeURIComponent(since)}`;
  return {
    headline: `${headline}: ${counted(count, 'chain')}, ${type}`,
    about: context.companyName,
    sentence: `${counted(count, 'chain')}${actions > count ? ` (${actions} actions)` : ''} ${many}`,
    sections: {
      'What was wrong': [
        `${first[0]?.message ?? reason.message} (${type})`,
        ...(count > 1 ? ['Ids and numbers differ from one to the other.'] : []),
      ],
      'What happens now': heldUntil
        ? [`Without a decision they fail, the first at ${shownTime(heldUntil)}; what stands behind them is not run.`]
        : [],
      'To put it right': [
        few ? mendFew : mendMany,
        ...(few || kind === 'partly-failed' ? each : [all]),
        ...(isHeld && count > 1 ? ['You are told once when all of them are through.'] : []),
        ...(isHeld ? seeTo : []),
      ],
      [first.length < count ? `The first ${first.length}` : 'Which']: first.map(({ chainId, runId, assignmentId, index }) => {
        const { chain, webUi } = chainLinks(context.links, { companyId, chainId }, runId);
        // People's browsers open the Web UI; the API wants a token.
        return { label: titleOf({ assignmentId, index }), url: webUi ?? chain };
      }),
      [oneWithoutKey]: decisions,
      Where: [
        `Happened: ${shownTime(at)}`,
        ...(isHeld ? [{ label: 'Their page, with a key', url: causePage(context.links.api, companyId, cause.id) }] : []),
        { label: 'All of them, with a token', url: `${context.links.api}/co/${companyId}/chains?${query}` },
      ],
    },
    type: `${kind}.many`,
    facts: { causeId: isHeld ? cause.id : undefined, reason, since, count, actions, first },
  };
}

function titleOf({ assignmentId, index }: Pick<Member, 'assignmentId' | 'index'>): string {
  return `${assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain'}, action ${index}`;
}

export function throughWords({ cause, through, ended, open, since, at }: ThroughNotice, { companyName }: NoticeContext): Words {
  const { reason } = cause;
  const [headline, , many] = wordsOf.recovered;
  const tally = Object.entries(ended).map(([state, count]) => `${state}: ${count}`);
  return {
    headline: `${headline}: ${counted(through, 'chain')}, ${reason.type}`,
    about: companyName,
    sentence: `${counted(through, 'chain')} ${many} ${through === 1 ? 'is' : 'are'} through.`,
    sections: {
      'How the actions stand': [...tally, ...(open > 0 ? [`not known: ${open}`] : [])],
      'What had been wrong': [`${reason.message} (${reason.type})`],
      Where: [`Happened: ${shownTime(at)}`],
    },
    type: 'recovered.many',
    facts: { reason, since, count: through, ended, open },
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
