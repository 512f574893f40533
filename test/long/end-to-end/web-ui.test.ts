/**
 * Temporal's Web UI in a real browser: the texts that an operator reads without opening a payload, and the steering of a chain.
 * `RELAY_PICTURES=1 npm test -- end-to-end/web-ui` takes the pictures of docs/web-ui.md.
 */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startWebUi } from '../../../src/sandbox/web-ui.js';
import { freePort } from '../../../src/service/server.js';
import { missingBrowser, startBrowser } from '../../end-to-end/browser.js';
import { demoScene, type ShownKind, startShownChains } from '../../end-to-end/shown-chains.js';
import { actor, adminToken, eventually, startStack, Unmet } from '../../end-to-end/stack.js';

const uiUrl = process.env.RELAY_TEST_TEMPORAL_UI_URL;
const missing = missingBrowser ?? (uiUrl ? undefined : 'RELAY_TEST_TEMPORAL_UI_URL is not set');
const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../../docs/pictures/', import.meta.url) : undefined;

if (missing) it("Temporal's Web UI", { skip: missing }, () => {});
else describe("Temporal's Web UI", lookAround);

async function lookAround(): Promise<void> {
  const port = await freePort('127.0.0.1');
  const webUi = `http://127.0.0.1:${port}`;
  const stack = await startStack({ retryBudgetSeconds: 600, webUi });
  const server = await startWebUi({ upstream: uiUrl ?? '', codec: `${stack.links.api}/codec`, host: '127.0.0.1', port });
  after(() => server.close());
  const { company, chains, workflows } = await startShownChains(stack, pictures && (await demoScene(stack)));
  const browser = await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 1300 } });

  /** Opens a page at the address that the relay names. */
  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(stack.links.webUi + path);
    return page;
  };
  const pathTo = async (workflowId: string, tab: string): Promise<string> => {
    const { runId } = await stack.client.workflow.getHandle(workflowId).describe();
    return `/workflows/${encodeURIComponent(workflowId)}/${runId}/${tab}`;
  };

  it('is reached by signing in as an operator, and not with a key', async () => {
    const key = await stack.store.keys.create(company.companyId, 'a key', actor, { role: 'manage' });
    assert(typeof key === 'object');
    const page = await open('/workflows');
    const enter = async (credential: string) => {
      await page.getByLabel('Admin token or company key').fill(credential);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await enter(key.key);
    await page.getByText('for operators: sign in with an admin token').waitFor();
    await enter(adminToken);
    await page.waitForURL(`${webUi}/namespaces/default/workflows`);
    await reads(page, [/Workflows/]);
    await page.close();
  });

  describe('shows texts without a payload being opened', () => {
    const cases: [kind: ShownKind, tab: string, words: RegExp[]][] = [
      [
        'running',
        'history',
        [/2 Alert the manager: 3600 s after the event/, /Attempt \d+ \/ \d+ • sendAssignment • 0 Preferred technicians/],
      ],
      [
        'running',
        'user-metadata',
        [
          /retrying\s+platform_sendAssignment: Preferred technicians\s+The assignment platform does not work at the moment; POST .*answered 503/,
        ],
      ],
      [
        'held',
        'history',
        [/1 Metro technicians: needs attention until 2/, /sendEmail • 0 Tell the owner first: to owner@demo\.example/],
      ],
      [
        'held',
        'user-metadata',
        [
          /3 actions, assignment 404404: Tell the owner first, Metro technicians, Note it in the ticket/,
          /Action 1 needs attention: Assignment 404404 does not exist at the assignment platform; POST http:\S+ answered 404: no assignment 404404/,
          /retry tries the action again, skip continues without the action\. The input of retry and skip is \[1\]/,
          /2\s+pending\s+ticket_updateUDF: Note it in the ticket/,
        ],
      ],
      [
        'failed',
        'history',
        [
          /1 of 3 actions failed\. 1 Preferred technicians: Assignment 404404 does not exist at the assignment platform; POST \S+ answered 404/,
          /relay retry \S+ \S+ 1/,
        ],
      ],
      [
        'failed',
        'user-metadata',
        [
          /Action 1 failed: Assignment 404404 does not exist at the assignment platform; POST \S+ answered 404/,
          /2\s+done\s+sendEmails: Alert the manager/,
        ],
      ],
      ['completed', 'user-metadata', [/0\s+done\s+sendEmails: Tell the owner first\s+reached 2/, /in order, if status==draft/]],
      ['delayed', 'history', [/1 Metro technicians later: due 2/]],
      ['delayed', 'user-metadata', [/1\s+scheduled\s+platform_sendAssignment: Metro technicians later\s+due 2/]],
    ];
    const pictured: Record<string, Clip> = {
      'running/history': clips.timeline,
      'held/user-metadata': clips.page,
      'failed/history': clips.page,
      'completed/user-metadata': clips.metadata,
      'delayed/history': clips.timeline,
    };
    for (const [kind, tab, words] of cases) {
      it(`${kind}, ${tab}`, async () => {
        const page = await open(await pathTo(workflows[kind], tab));
        await reads(page, words);
        const clip = pictured[`${kind}/${tab}`];
        if (clip) await takePicture(page, kind, clip);
        await page.close();
      });
    }
  });

  it('lists the chains that need attention', async () => {
    // The list must exclude chains of other tests on this server.
    const query = pictures ? needsAttention : `${needsAttention} AND RelayCompanyId="${company.companyId}"`;
    const page = await open(`/workflows?query=${encodeURIComponent(query)}`);
    await reads(page, [/^1\s+Workflow$/m, new RegExp(workflows.held)]);
    await takePicture(page, 'list', clips.list);
    await page.close();
  });

  it('sends the signal that repairs a held chain', async () => {
    const page = await open(await pathTo(workflows.held, 'user-metadata'));
    await reads(page, [/Action 1 needs attention/]);
    await stack.heal();
    await stack.assignment({ id: '404404' });
    await page.getByRole('button', { name: 'More Actions' }).dispatchEvent('click');
    await page.getByRole('menuitem', { name: 'Send a Signal' }).dispatchEvent('click');
    const form = page.getByTestId('signal-confirmation-modal');
    await form.getByRole('button', { name: 'Select a signal' }).dispatchEvent('click');
    await form.getByRole('option', { name: /^retry/ }).dispatchEvent('click');
    await form.getByRole('textbox').last().fill('[1]');
    await takePicture(page, 'signal', clips.form);
    await form.getByRole('button', { name: 'Submit' }).dispatchEvent('click');
    const chain = await company.ended(chains.held);
    const { events } = await stack.client.workflow.getHandle(workflows.held).fetchHistory();
    const typed = events?.flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []).at(-1);
    assert.equal(String(typed?.input?.payloads?.[0]?.metadata?.encoding), 'binary/encrypted');
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done', 'done'],
    );
    await page.close();
  });
}

/** The first query in docs/web-ui.md. */
const needsAttention =
  /^\| Needs attention +\| `(.*?)`/m.exec(readFileSync(new URL('../../../../docs/web-ui.md', import.meta.url), 'utf8'))?.[1] ??
  assert.fail('docs/web-ui.md has no query for what needs attention');

/** Waits until the page, with its frames, shows these texts. */
async function reads(page: Page, words: RegExp[]): Promise<void> {
  await eventually(`${words.join(' and ')} on ${page.url()}`, async () => {
    const seen = page.frames().map((frame) => frame.evaluate<string>('document.body.innerText').catch(() => ''));
    const texts = await Promise.all(seen);
    const text = texts.join('\n');
    return words.every((part) => part.test(text)) || new Unmet(text);
  });
}

type Clip = { x: number; y: number; width: number; height: number };

/** The page's content, without the top and left bars. */
const clips = {
  page: { x: 64, y: 110, width: 1216, height: 670 },
  metadata: { x: 64, y: 340, width: 1216, height: 545 },
  timeline: { x: 64, y: 735, width: 1216, height: 350 },
  list: { x: 64, y: 60, width: 1216, height: 300 },
  form: { x: 385, y: 350, width: 512, height: 600 },
} satisfies Record<string, Clip>;

async function takePicture(page: Page, name: string, clip: Clip): Promise<void> {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, pictures)), clip });
}
