/** The words of notices about what happened to one action, or to many for the same cause. */

import type { ActionStatus } from '../chain/action-status.js';
import { chainUrl, chainWorkflowId } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { cutShort, oneLine } from '../chain/text.js';
import { actionTitle, shownTime } from '../chain/web-ui.js';
import type { ChainNotice, FailureKind, ManyNotice, NoticeKind, ThroughNotice } from '../contract/notices.js';
import { chainLink, type NoticeContext, relay, type Section, type Words } from './words.js';

/** What happened, to one action and to many chains. */
const happened: Record<NoticeKind, { headline: string; one: string; many: string }> = {
  'needs-attention': { headline: 'Needs attention', one: 'could not be done and is held.', many: 'held, for the same reason.' },
  failed: {
    headline: 'Failed',
    one: 'could not be done. The rest of the chain goes on.',
    many: 'with an action that failed, for the same reason. What is left of them goes on.',
  },
  'partly-failed': {
    headline: 'Partly failed',
    one: 'did not reach everybody. The rest of the chain goes on.',
    many: 'with an e-mail that did not reach everybody, for the same reason.',
  },
  'gave-up': {
    headline: 'Given up',
    one: 'was held, and nobody decided in time. It has failed.',
    many: 'failed: held for the same reason, and nobody decided in time.',
  },
  recovered: {
    headline: 'Recovered',
    one: 'has been done after all. The chain goes on.',
    many: 'that had failed for the same reason',
  },
};

const follows = 'What was not run because of it follows:';
const mendFailed = {
  few: `Mend what was wrong, then retry, also when the chain has closed. ${follows}`,
  many: `Mend what was wrong, then retry those that have closed (it counts first, and asks). ${follows}`,
};
const sendAgain = 'Send it to those without a copy, also when the chain has closed:';

/** What to do, above the commands that retry a few actions, or the one that retries many. */
const remedies: Record<FailureKind, { few: string; many: string }> = {
  'needs-attention': {
    few: 'Mend what was wrong, then retry:',
    many: 'Mend what was wrong, then retry them all (it counts first, and asks):',
  },
  failed: mendFailed,
  'partly-failed': { few: sendAgain, many: sendAgain },
  'gave-up': mendFailed,
};

export function chainWords(notice: ChainNotice, context: NoticeContext): Words {
  const { kind, companyId, relayId, chainId, receivedAt, index, actions } = notice;
  const action = actions.find((action) => action.index === index);
  if (!action) throw new RangeError(`the notice names action ${index}, which the chain does not have`);
  const { assignmentId, state, reason, error, attempts } = action;
  const webUi = context.webUi(notice, notice.runId);
  const webUiLinks = webUi === undefined ? [] : [{ label: 'Temporal Web UI', url: webUi }];
  // What is due together runs in one sequence.
  const behind = (held: ActionStatus, { state, runAt, index }: ActionStatus) =>
    held.state === 'needs-attention' && state === 'pending' && runAt === held.runAt && index > held.index;
  const heldElsewhere = (other: ActionStatus) =>
    !behind(action, other) && (other.state === 'needs-attention' || actions.some((held) => behind(held, other)));
  const others = (title: string, chosen: (other: ActionStatus) => boolean, withTime = false): Section => ({
    title,
    lines: actions
      .filter((other) => other.index !== index && chosen(other))
      .map((other) => `${actionTitle(other)}${withTime && other.runAt ? `, due ${shownTime(other.runAt)}` : ''}`),
  });
  const isUndone = kind === 'recovered' && state !== 'done';
  const undone = `need not be done any more: ${reason}. It is ${state}, and the chain goes on.`;
  return {
    headline: `${happened[kind].headline}: ${oneLine(action.comment ?? '') || action.action}`,
    about: `${context.ruleName}${assignmentId ? `, assignment ${assignmentId}` : ''}`,
    relayId,
    sentence: `${actionTitle(action)} — ${isUndone ? undone : happened[kind].one}`,
    sections: [
      { title: 'What was wrong', lines: [error ? `${error.message} (${error.type})` : (reason ?? 'nothing was said')] },
      { title: 'What happens now', lines: kind === 'needs-attention' ? whatHappens(action) : [] },
      {
        title: 'To put it right',
        lines: kind === 'recovered' ? [] : [...chainRemedy(kind, action, notice, context), ...webUiLinks],
      },
    ],
    where: [
      ...(assignmentId ? [`Assignment: ${oneLine(assignmentId)}`] : []),
      `Chain: ${chainId}, received ${shownTime(receivedAt)}`,
    ],
    after: attempts ? ` after ${attempts} attempt${attempts === 1 ? '' : 's'}` : '',
    links: [...(kind === 'recovered' ? webUiLinks : []), chainLink(notice, context)],
    end: [
      others('Done', ({ state }) => state === 'done'),
      others('Held behind it', (other) => behind(action, other)),
      others('Held elsewhere', heldElsewhere),
      others('Not run', ({ state }) => state === 'not-run'),
      others('Will still run', (other) => !hasEnded(other.state) && !behind(action, other) && !heldElsewhere(other), true),
      {
        title: 'Recipients',
        lines: (action.deliveries ?? []).map(
          ({ recipient, sent, error }) => `${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`,
        ),
      },
    ],
    facts: {
      chain: { chainId, workflowId: chainWorkflowId({ companyId, chainId }), receivedAt },
      action,
      actions,
      links: { chain: chainUrl(context.apiUrl, notice), ...(webUi !== undefined && { webUi }) },
    },
  };
}

function whatHappens({ nextAttemptAt, heldUntil }: ActionStatus): string[] {
  const tries = nextAttemptAt
    ? `The relay goes on trying by itself, next at ${shownTime(nextAttemptAt)}, and says so when it comes through.`
    : 'The relay does not try again by itself: this has to be put right first.';
  if (!heldUntil) return [tries];
  const end = 'If nobody has decided by then, it fails, and what stands behind it is not run.';
  return [tries, `It is held until ${shownTime(heldUntil)}. ${end}`];
}

function chainRemedy(kind: FailureKind, { error }: ActionStatus, notice: ChainNotice, context: NoticeContext): string[] {
  const { companyId, chainId, index } = notice;
  const steer = (verb: string) => relay(`${verb} ${companyId} ${chainId} ${index}`, context);
  const signal = (name: string) =>
    `temporal workflow signal -n ${context.namespace} -w ${chainWorkflowId(notice)} --name ${name} -i '[${index}]'`;
  const { few } = remedies[kind];
  if (kind !== 'needs-attention') return [few, steer('retry')];
  return [
    error?.type === 'DataMistake'
      ? 'What came with the request stays as it is. If a setting was at fault, mend it, then retry:'
      : few,
    steer('retry'),
    signal('retry'),
    'Or go on without it:',
    steer('skip'),
    signal('skip'),
    ...(context.webUi(notice) === undefined
      ? []
      : [`Or in the Web UI: More Actions, Send a Signal, retry or skip, input [${index}].`]),
  ];
}

/** No more actions than these are retried one by one. */
const fewActions = 3;

export function manyWords({ cause, count, actions, first, since }: ManyNotice, context: NoticeContext): Words {
  const { companyId, kind, reason } = cause;
  const { apiUrl, webUi } = context;
  const isHeld = kind === 'needs-attention';
  const [heldUntil] = first.flatMap(({ heldUntil }) => heldUntil ?? []).sort();
  const each = first.map(({ chainId, index }) => relay(`retry ${companyId} ${chainId} ${index}`, context));
  const few = actions <= fewActions && first.length === actions;
  const all = relay(
    `bulk retry ${companyId}${isHeld ? '' : ' --status failed'} --reason ${reason.type} --since ${since}`,
    context,
  );
  const filter = `status=${isHeld ? kind : 'failed'}&reason=${encodeURIComponent(reason.type)}`;
  return {
    ...manyHeadline(kind, count, reason.type, context),
    sentence: `${chains(count)}${actions > count ? ` (${actions} actions)` : ''} ${happened[kind].many}`,
    sections: [
      {
        title: 'What was wrong',
        lines: [
          `${first[0]?.message ?? reason.message} (${reason.type})`,
          ...(count > 1 ? ['Ids and numbers differ from one to the other.'] : []),
        ],
      },
      {
        title: 'What happens now',
        lines: heldUntil
          ? [`Without a decision they fail, the first at ${shownTime(heldUntil)}; what stands behind them is not run.`]
          : [],
      },
      {
        title: 'To put it right',
        lines: [
          few ? remedies[kind].few : remedies[kind].many,
          ...(few || kind === 'partly-failed' ? each : [all]),
          ...(isHeld && count > 1 ? ['You are told once when all of them are through.'] : []),
        ],
      },
      {
        title: first.length < count ? `The first ${first.length}` : 'Which',
        lines: first.map(({ chainId, runId, assignmentId, index }) => {
          const chain = { companyId, chainId };
          const about = assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain';
          // People's browsers open the Web UI; the API wants a token.
          return { label: `${about}, action ${index}`, url: webUi(chain, runId) ?? chainUrl(apiUrl, chain) };
        }),
      },
    ],
    links: [
      {
        label: 'All of them, with a token',
        url: `${apiUrl}/co/${companyId}/chains?${filter}&since=${encodeURIComponent(since)}`,
      },
    ],
    type: `${kind}.many`,
    facts: { reason, since, count, actions, first },
  };
}

export function throughWords({ cause, through, ended, open, since }: ThroughNotice, context: NoticeContext): Words {
  const { reason } = cause;
  const tally = Object.entries(ended).map(([state, count]) => `${state}: ${count}`);
  return {
    ...manyHeadline('recovered', through, reason.type, context),
    sentence: `${chains(through)} ${happened.recovered.many} ${through === 1 ? 'is' : 'are'} through.`,
    sections: [
      { title: 'How the actions stand', lines: [...tally, ...(open > 0 ? [`not known: ${open}`] : [])] },
      { title: 'What had been wrong', lines: [`${reason.message} (${reason.type})`] },
    ],
    type: 'recovered.many',
    facts: { reason, since, count: through, ended, open },
  };
}

function manyHeadline(kind: NoticeKind, count: number, type: string, { companyName }: NoticeContext) {
  return { headline: `${happened[kind].headline}: ${chains(count)}, ${type}`, about: companyName };
}

function chains(count: number): string {
  return count === 1 ? '1 chain' : `${count} chains`;
}
