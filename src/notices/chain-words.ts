/** The words of notices about one action, or about many actions with the same cause. */

import type { ActionStatus } from '../chain/action-status.js';
import { type ChainFacts, historyFull, refusalOf, verbsFor } from '../chain/allowed-verbs.js';
import { causePage, chainLinks, chainPage, chainUrl, chainWorkflowId } from '../chain/chain.js';
import { causeFailure, helpFor } from '../chain/failure-words.js';
import { chainStatus, foundNobody, hasEnded } from '../chain/outcome.js';
import { capital, counted, cutShort, oneLine } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import {
  doneTitle,
  explained,
  foundNobodyWords,
  isFixFirst,
  labelled,
  notDoneTitle,
  sentence,
  stepTitle,
  technicalDetails,
  toDoFirst,
} from '../chain/words.js';
import { actionOf } from '../contract/causes.js';
import type { NoticeText } from '../contract/chain-resource.js';
import { fieldsByLink } from '../contract/hold-link.js';
import type { ChainNotice, FailureKind, ManyNotice, Member, NoticeKind, ThroughNotice } from '../contract/notices.js';
import { noticeKindOf } from '../contract/notices.js';
import { forOperators, type Line, type Link, lineText, type NoticeContext, relay, type Words } from './frame.js';

/** `many`: the words after the number of chains. `next`: the words below the reason. */
const wordsOf: Record<NoticeKind, { headline: string; many: string; next?: string }> = {
  'needs-attention': { headline: 'Needs attention', many: 'need a decision' },
  failed: {
    headline: 'Failed',
    many: 'failed',
    next: 'The rest of the chain continues. You can retry the step, even after the chain has ended.',
  },
  'partly-failed': {
    headline: 'Partly failed',
    many: 'could not reach every recipient of an e-mail',
    next: 'The rest of the chain continues. A retry sends the e-mail only to recipients that did not get it.',
  },
  'gave-up': {
    headline: 'No decision in time',
    many: 'failed, because nobody decided in time',
    next: 'Nobody decided in time. You can still retry the step. After a retry, the steps that waited for this step also run.',
  },
  recovered: { headline: 'Recovered', many: 'with this problem' },
};

/** @param chain - the current state of the chain. If `chain` is absent, the text shows the state from the notice. */
export function chainWords(notice: ChainNotice, context: NoticeContext, chain?: ChainFacts): Words {
  const { kind, chainId, receivedAt, index, actions } = notice;
  const action = actionOf(notice);
  const shown = timesIn(context.timeZone);
  const { assignmentId, comment, reason, attempts, deliveries = [] } = action;
  const facts = chain ?? { chainId, status: chainStatus(actions), historyFull: reason === historyFull };
  const { headline, next } = wordsOf[kind];
  const isRecovered = kind === 'recovered';
  const isSend = action.action === 'platform_sendAssignment'; // the title of a send already names the assignment
  const links = chainLinks(context.links, notice, notice.runId);
  const decide = kind === 'needs-attention' ? context.holdLink?.({ ...notice, heldUntil: action.heldUntil }) : undefined;
  const others = (chosen: (other: ActionStatus) => boolean) => actions.filter((other) => other.index !== index && chosen(other));
  const heldBehindIt = others((other) => isHeldBehind(action, other));
  const isHeld = (other: ActionStatus) => other.state === 'needs-attention' || actions.some((held) => isHeldBehind(held, other));
  const heldElsewhere = others((other) => !heldBehindIt.includes(other) && isHeld(other));
  const goOn = others((other) => !hasEnded(other.state) && !heldBehindIt.includes(other) && !isHeld(other));
  const { wrong, details } = explained(action);
  const title = titleFor(kind, action);
  const said = inSubject(title);
  const refused = isRecovered ? undefined : refusalOf('retry', facts, action)?.detail;
  const first = refused ?? toDoFirst(action);
  const happened = `${shown(notice.at)}${attempts ? `, after ${counted(attempts, 'attempt')}` : ''}`;
  return {
    headline: isRecovered && foundNobody(action) ? capital(said) : `${headline}: ${said}`,
    about: `${context.ruleName}${assignmentId && !said.includes(oneLine(assignmentId)) ? `, assignment ${assignmentId}` : ''}`,
    title,
    place: [
      ...(comment?.trim() ? [`Note of the step: “${comment.trim()}”`] : []),
      ...(assignmentId && !isSend ? [`Assignment ${assignmentId}`] : []),
      happened,
    ],
    wrong: isRecovered ? recoveredWords(action) : [labelled(wrong)],
    toDo: isRecovered
      ? []
      : [...(first === undefined ? [] : [labelled(first)]), ...(next === undefined || refused ? [] : [next])],
    ...linksFor(kind, action, notice, context, facts, decide),
    sections: {
      'What happens next': kind === 'needs-attention' ? whatHappens(action, shown, heldBehindIt.length > 0) : [],
      'Still planned': goOn.map((other) => `${other.runAt ? `At ${shown(other.runAt)}: ` : ''}${stepTitle(other)}`),
      'Steps that wait for this step': heldBehindIt.map(stepTitle),
      'Also needs attention': heldElsewhere.map((other) => stepTitle(other) + (other.state === 'pending' ? ' (waits)' : '')),
      'Not run': others(({ state }) => state === 'not-run').map(stepTitle),
      'Steps already done': others(({ state }) => state === 'done').map(stepTitle),
      Recipients: deliveries.map(({ recipient, sent, error }) => `${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`),
      [technicalDetails()]: isRecovered ? [] : details,
    },
    ids: `Chain ${chainId}, step ${index + 1}, received ${shown(receivedAt)}`,
    operator: [
      ...(isRecovered ? [] : commands(kind, action, notice, context, facts)),
      { label: 'The chain in the API (you need a token)', url: chainUrl(context.links.api, notice) },
      ...(links.webUi ? [{ label: 'Temporal Web UI', url: links.webUi }] : []),
    ],
    facts: {
      chain: { chainId, workflowId: chainWorkflowId(notice), receivedAt },
      action,
      actions,
      links: { ...links, ...(decide !== undefined && { decide }) },
    },
  };
}

function titleFor(kind: NoticeKind, action: ActionStatus): string {
  if (kind === 'partly-failed') return 'An e-mail did not reach every recipient';
  if (kind !== 'recovered') return notDoneTitle(action);
  return action.state === 'done' ? doneTitle(action, ' after all') : 'No decision is needed any more';
}

function recoveredWords({ state, reason, result }: ActionStatus): string[] {
  if (foundNobody({ state, result })) return [`${foundNobodyWords} The chain continues.`];
  const note = result?.note ? [sentence(`Remark: ${result.note}`)] : [];
  if (state === 'done') return ['The relay tried again, and the step succeeded. The chain continues.', ...note];
  const now =
    state === 'skipped'
      ? 'The relay skipped the step and did not retry it'
      : `The relay tried again. The step is now ${state.replaceAll('-', ' ')}`;
  return [`${now}${reason ? ` (${inSubject(reason)})` : ''}. The chain continues.`, ...note];
}

/** Writes a notice about the current state of an action. @returns undefined if the state needs no notice. */
export function standingWords(
  chain: Omit<ChainNotice, 'kind' | 'at'> & ChainFacts,
  context: NoticeContext,
): NoticeText | undefined {
  const kind = noticeKindOf(actionOf(chain).state);
  if (kind === undefined) return undefined;
  const words = chainWords({ ...chain, kind, at: chain.receivedAt }, context, chain);
  const { headline, title, wrong, toDo = [], sections, operator = [] } = words;
  const all: Record<string, Line[]> = { 'What was wrong': wrong, 'What to do': toDo, ...sections };
  const shown = Object.entries(context.forOperator ? { ...all, [forOperators]: operator } : all);
  return {
    headline,
    sentence: sentence(title),
    sections: shown.flatMap(([title, lines]) => (lines.length > 0 ? [{ title, lines: lines.map(lineText) }] : [])),
  };
}

/** Whether an action waits for the held action. Actions with the same due time run in order. */
export const isHeldBehind = (held: ActionStatus, { state, runAt, index }: ActionStatus) =>
  held.state === 'needs-attention' && state === 'pending' && runAt === held.runAt && index > held.index;

function whatHappens(
  { nextAttemptAt, heldUntil, reason }: ActionStatus,
  shown: (iso: string) => string,
  isWaitedFor: boolean,
): string[] {
  const tries = reason
    ? sentence(reason)
    : nextAttemptAt
      ? `The relay will retry the step automatically at ${shown(nextAttemptAt)}. You get a notice if the retry succeeds.`
      : 'The relay does not retry the step automatically.';
  if (!heldUntil) return [tries];
  const end = isWaitedFor ? 'the step fails, and the steps that wait for it do not run.' : 'the step fails.';
  return [tries, `If nobody decides before ${shown(heldUntil)}, ${end}`];
}

const signIn = 'opens the relay, where you sign in';

/** *Fix* is the first link if a retry alone would fail again. @param decide - the signed link to the page of the hold */
function linksFor(
  kind: NoticeKind,
  action: ActionStatus,
  notice: ChainNotice,
  { links, edits }: NoticeContext,
  chain: ChainFacts,
  decide: string | undefined,
): Pick<Words, 'links' | 'hint'> {
  const page = chainPage(links.api, notice);
  if (decide === undefined) {
    const label = kind === 'needs-attention' ? 'Fix, retry or skip' : kind === 'recovered' ? 'Open the chain' : 'Fix and retry';
    return { links: [{ label, url: page }], hint: `The link ${signIn}.` };
  }
  const verbs = verbsFor(chain, action);
  const isHere = edits === true && fieldsByLink(action).length > 0;
  const fix = !verbs.includes('mend') || action.error?.retryable ? undefined : isHere ? `${decide}#fix` : page;
  const toConsole = fix && !isHere ? `The link “Fix” ${signIn}. The other links need no sign-in` : 'The links need no sign-in';
  return {
    links: decisions(decide, { fix, fixFirst: isFixFirst(action), canRetry: verbs.includes('retry') }),
    hint: `${toConsole}: ${confirming}`,
  };
}

const confirming = 'they open a page where you confirm.';

/** @param fix - the address of the page that corrects the step. Undefined if a correction does not help, or is not possible. */
function decisions(
  decide: string,
  { fix, fixFirst, canRetry }: { fix: string | undefined; fixFirst: boolean; canRetry: boolean },
) {
  const fixing: Link[] = fix ? [{ label: 'Fix', url: fix }] : [];
  const retry: Link[] = canRetry ? [{ label: 'Retry', url: `${decide}#retry` }] : [];
  return [...(fixFirst ? [...fixing, ...retry] : [...retry, ...fixing]), { label: 'Skip', url: `${decide}#skip` }];
}

/** The commands for operators. The most helpful command is the first. */
function commands(kind: FailureKind, action: ActionStatus, notice: ChainNotice, context: NoticeContext, chain: ChainFacts) {
  const { companyId, chainId, index } = notice;
  const verbs = verbsFor(chain, action);
  const isHeld = kind === 'needs-attention';
  const steer = (verb: 'retry' | 'skip') => {
    if (!verbs.includes(verb)) return [];
    const signal = `temporal workflow signal -n ${context.namespace} -w ${chainWorkflowId(notice)} --name ${verb} -i '[${index}]'`;
    return [relay(`${verb} ${companyId} ${chainId} ${index}`, context), ...(isHeld ? [signal] : [])];
  };
  const edit = relay(`chains mend ${companyId} ${chainId} ${index} --set field=value`, context);
  const mend = isHeld && verbs.includes('mend') && !action.error?.retryable ? [edit] : [];
  const inWebUi = `In Temporal's Web UI, open “More Actions”, then “Send a Signal”. Choose the signal “retry” or “skip”. In “Input”, type “[${index}]” with the brackets: this number means step ${index + 1} of the chain, because Temporal counts from 0.`;
  const ordered = isFixFirst(action) ? [...mend, ...steer('retry')] : [...steer('retry'), ...mend];
  return [...ordered, ...steer('skip'), ...(isHeld && context.links.webUi ? [inWebUi] : [])];
}

/** *Fix* needs no sign-in only if the company allows edits by the links of notices. */
export const oneWithoutKey = ({ edits }: NoticeContext, step = 'a step') =>
  `${edits ? 'Fix, retry' : 'Retry'} or skip ${step}, without a sign-in`;

/** If a notice is about at most this many actions, it shows one command for each action. */
const fewActions = 3;
const behind = 'When a step fails, the steps that wait for it do not run.';

export function manyWords({ cause, count, actions, first, since, at }: ManyNotice, context: NoticeContext): Words {
  const { companyId, kind, reason } = cause;
  const { type } = reason;
  const { api } = context.links;
  const shown = timesIn(context.timeZone);
  const { headline, many: said } = wordsOf[kind];
  const isHeld = kind === 'needs-attention';
  const status = isHeld ? kind : 'failed';
  const [heldUntil] = first.flatMap(({ heldUntil }) => heldUntil ?? []).sort();
  const few = actions <= fewActions && first.length === actions;
  const each = first.map(({ chainId, index }) => relay(`retry ${companyId} ${chainId} ${index}`, context));
  const all = relay(`bulk retry ${companyId}${isHeld ? '' : ' --status failed'} --reason ${type} --since ${since}`, context);
  const taking = [
    relay(`causes take ${companyId} ${cause.id}`, context),
    relay(`causes silence ${companyId} ${cause.id} 4h`, context),
  ];
  const decideAt = ({ chainId, index, at, heldUntil }: Member) =>
    isHeld ? context.holdLink?.({ companyId, chainId, index, at, heldUntil }) : undefined;
  const some = `${first.length} of ${actions} steps`;
  const isCut = first.length < count;
  const isOne = actions === 1;
  const [only] = isOne ? first : [];
  const decide = only && decideAt(only);
  const many = isHeld && isOne ? 'needs a decision' : said;
  const same = kind === 'gave-up' ? '' : ', all for the same reason'; // the notice `gave-up` already says the reason
  const withoutKey = oneWithoutKey(context, isCut ? some : undefined);
  const list = first.some((member) => decideAt(member) !== undefined) ? withoutKey : isCut ? some : 'The steps';
  const query = `status=${status}&reason=${encodeURIComponent(type)}&since=${encodeURIComponent(since)}`;
  const message = first[0]?.message ?? reason.message;
  const assignmentIds = [...new Set(first.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const [assignmentId] = assignmentIds.length === 1 ? assignmentIds : [];
  const several = assignmentIds.length > 1 ? { assignments: Infinity } : {};
  const shared = first.length === actions ? { assignments: assignmentIds.length, assignmentId } : several;
  const { title, remedy } = causeFailure({ ...reason, message, reason: type, ...shared });
  const differ =
    count > 1 ? ['This is the error of the first chain. In the other chains, the numbers or addresses can be different.'] : [];
  const { wrong, details } = explained({ error: { ...reason, title, message, retryable: true } });
  const help = helpFor({ ...reason, message, retryable: false });
  const fixes = help?.by === 'mend' && help.words !== undefined; // a general remedy, such as “Fix the cause”, needs no correction
  const isHere = context.edits === true && only?.assignmentId !== undefined; // the link can change this number
  const fix = isHere ? `${decide}#fix` : only && chainPage(api, { companyId, chainId: only.chainId });
  return {
    headline: `${headline}: ${isOne ? inSubject(title) : `${counted(count, 'chain')}. ${capital(inSubject(title))}`}`,
    about: isOne ? context.ruleName : context.companyName,
    title: isOne ? `1 step ${many}` : `${counted(actions, 'step')} in ${counted(count, 'chain')} ${many}${same}`,
    place: [shown(at)],
    wrong: [labelled(wrong), ...(details.length > 0 ? [] : differ)],
    toDo: [remedy ? labelled(sentence(remedy)) : 'Fix the problem, then retry.'],
    links: [
      ...(decide ? decisions(decide, { fix: fixes ? fix : undefined, fixFirst: fixes, canRetry: true }) : []),
      isHeld
        ? { label: `Show ${counted(actions, 'step')} in the console`, url: causePage(api, companyId, cause.id) }
        : { label: `Show ${counted(count, 'chain')} in the console`, url: `${api}/companies/${companyId}/chains?${query}` },
    ],
    hint: decide
      ? `The links ${fixes && isHere ? '“Fix”, ' : ''}“Retry” and “Skip” need no sign-in: ${confirming}`
      : `The link ${signIn}. There you can ${isHeld ? 'edit, retry or skip' : 'edit and retry'} ${isOne ? 'this step' : 'all these steps together'}.`,
    sections: {
      'What happens next': [
        ...(heldUntil
          ? [
              `If nobody decides, ${isOne ? 'this step fails' : 'these steps fail. The earliest fails'} at ${shown(heldUntil)}. ${behind}`,
            ]
          : []),
        ...(isHeld && count > 1 ? ['You get one notice when this problem is solved.'] : []),
      ],
      [list]: (decide ? [] : first).map(
        (member): Link => ({
          label: titleOf(member),
          url: decideAt(member) ?? chainPage(api, { companyId, chainId: member.chainId }),
        }),
      ),
      [technicalDetails()]: details.length > 0 ? [...details, ...differ] : [],
    },
    ids: `Problem ${cause.id}`,
    operator: [
      ...(few || kind === 'partly-failed' ? each : [all]),
      ...(isHeld ? taking : []),
      { label: 'These chains in the API (you need a token)', url: `${api}/co/${companyId}/chains?${query}` },
    ],
    type: `${kind}.many`,
    facts: { causeId: isHeld ? cause.id : undefined, reason, since, count, actions, first },
  };
}

const inSubject = (title: string) => cutShort(labelled(title), 100).replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());

const titleOf = ({ assignmentId, index }: Pick<Member, 'assignmentId' | 'index'>) =>
  `${assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain'}, step ${index + 1}`;

export function throughWords(
  { cause, through, ended, open, since, at, nobody = 0 }: ThroughNotice,
  { companyName, timeZone }: NoticeContext,
): Words {
  const { reason } = cause;
  const { headline, many } = wordsOf.recovered;
  const areDone = nobody === 0 && Object.keys(ended).every((state) => state === 'done');
  const end = areDone ? `${through === 1 ? 'has' : 'have'} recovered` : `no longer ${through === 1 ? 'needs' : 'need'} attention`;
  const found = { ...ended, done: (ended.done ?? 0) - nobody, 'found nobody': nobody };
  const tally = Object.entries(found).flatMap(([state, count]) =>
    count > 0 ? `${counted(count, 'step')}: ${state.replaceAll('-', ' ')}` : [],
  );
  const failure = causeFailure({ ...reason, reason: reason.type });
  const { wrong, details } = explained({ error: { ...failure, retryable: true } });
  return {
    headline: `${areDone ? headline : 'Nothing left to decide'}: ${counted(through, 'chain')} with the problem “${inSubject(failure.title)}”`,
    about: companyName,
    title: `${counted(through, 'chain')} ${many} ${end}`,
    place: [timesIn(timeZone)(at)],
    wrong: [`The problem was: “${labelled(wrong)}”`],
    sections: {
      'What the steps did': [...tally, ...(open > 0 ? [`${counted(open, 'step')}: the relay does not know the state`] : [])],
      [technicalDetails()]: details,
    },
    ids: `Problem ${cause.id}`,
    type: 'recovered.many',
    facts: { reason, since, count: through, ended, open, ...(nobody > 0 && { nobody }) },
  };
}
