/**
 * A tenant's texts in Temporal's Web UI, in a real browser with the codec: the UI shows them as text, and nothing in them runs.
 */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startWebUi } from '../../../src/sandbox/web-ui.js';
import { freePort } from '../../../src/service/server.js';
import { listen } from '../../cli/local-api.js';
import { missingBrowser, signIn, startBrowser } from '../../end-to-end/browser.js';
import { type Action, actor, adminToken, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';

const uiUrl = process.env.RELAY_TEST_TEMPORAL_UI_URL;
const missing = missingBrowser ?? (uiUrl ? undefined : 'RELAY_TEST_TEMPORAL_UI_URL is not set');

if (missing) it("a tenant's words in Temporal's Web UI", { skip: missing }, () => {});
else describe("a tenant's words in Temporal's Web UI", attack);

/** The texts are so short that the UI always shows the whole text. */
const wordsFor = (beacon: string) => [
  `![a](${beacon}/1)`,
  `<img src=${beacon}/2>`,
  '<img src=x onerror=alert(1)>',
  '[a](javascript:alert(2))',
  `<script src=${beacon}/3></script>`,
  `<iframe src=${beacon}/4></iframe>`,
  '"><svg onload=alert(3)>',
  `[a](${beacon}/5)`,
  `![a](${beacon.slice('http:'.length)}/6)`,
  `<style>@import '${beacon}/7'</style>`,
  `</code>\`![a](${beacon}/8)\``,
  `\\![a](${beacon}/9)`,
  `\\\\![a](${beacon}/10)`,
  `| ![a](${beacon}/11) |`,
  '<a href="javascript:alert(4)">a</a>',
  "<iframe srcdoc='<script>alert(5)</script>'>",
  `<video poster=${beacon}/12>`,
  `<${beacon}/13>`,
  `&lt;img src=${beacon}/14&gt;`,
  `<math><mtext><style><img src=${beacon}/15 onerror=alert(6)>`,
];

/** The visible text, and every element that can be clicked, or that loads or runs something. */
const lookInto = `({
  text: document.body.innerText,
  leads: [...document.querySelectorAll('[href],[src],[srcdoc],[poster],[onerror],[onload]')].map((one) => one.cloneNode().outerHTML),
})`;

async function attack(): Promise<void> {
  const asked: string[] = [];
  const beacon = await listen((request, answer) => {
    asked.push(request.url ?? '');
    answer.end();
  });
  after(beacon.close);
  const target = beacon.url.slice('http://'.length);
  const words = wordsFor(beacon.url);
  const port = await freePort('127.0.0.1');
  const webUi = `http://127.0.0.1:${port}`;
  const stack = await startStack({ retryBudgetSeconds: 600, webUi });
  const server = await startWebUi({ upstream: uiUrl ?? '', codec: `${stack.links.api}/codec`, host: '127.0.0.1', port });
  after(() => server.close());

  const company = await stack.company();
  const { companyId } = company;
  const carefree = await stack.store.rules.create(
    companyId,
    { name: words[2] ?? '', onFailure: 'continue', onUnknown: 'resend' },
    actor,
  );
  assert(typeof carefree === 'object');
  const goesOn = { relayId: carefree.rule.relayId, relayAccessToken: carefree.relayAccessToken };
  const start = async (actions: Action[]) => (await company.start(actions)).chainId;
  const done = await start(
    words.map((text) => udf(text, { cfName: text, cfValue: text, comment: text, platformAssignmentId: text })),
  );
  const failed = await start(words.map((text) => send(text, { groupId: text, comment: text, ...goesOn })));
  const together = Array.from({ length: 5 }, (_, n) => words.slice(n * 4, n * 4 + 4).join(' '));
  const held = await Promise.all(together.map((text) => start([send(text, { groupId: '1', comment: text })])));
  const mails = await start(
    words.map((text) => email(['a@b.example'], { subject: text, body: text, bodyHtml: text, comment: text })),
  );
  const delayed = await start(together.map((text) => udf(text, { comment: text, delayInSeconds: '3000' })));
  await Promise.all([done, failed, mails].map((chainId) => company.ended(chainId)));
  await Promise.all(held.map((chainId) => company.action(chainId, 0, 'needs-attention')));
  await company.action(delayed, 0, 'scheduled');

  const browser = await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 1300 } });
  await signIn(await context.newPage(), stack.links.api, adminToken);
  const wrong: string[] = [];
  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('dialog', (dialog) => {
      wrong.push(`${path}: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (request.url().includes(target)) wrong.push(`${path} asks ${request.url()}`);
    });
    await page.goto(`${webUi}/namespaces/default${path}`);
    return page;
  };
  /** Waits for the texts, and reports each text that can be clicked or loads something. */
  const looked = async (page: Page, shown: RegExp): Promise<void> => {
    const leads = await eventually(`${shown} on ${page.url()}`, async () => {
      try {
        const frames = page.frames().map((frame) => frame.evaluate<{ text: string; leads: string[] }>(lookInto));
        const seen = await Promise.all(frames);
        const text = seen.map(({ text }) => text).join('\n');
        return shown.test(text) ? seen.flatMap(({ leads }) => leads) : new Unmet(text);
      } catch (error) {
        return new Unmet(String(error)); // A frame has been replaced.
      }
    });
    // The Web UI's server renders Markdown to HTML in a separate frame. The test checks this frame, too.
    const theirs = leads.filter((html) => !/^<iframe [^>]*src="\/render\?content=/.test(html));
    const ours = theirs.filter((html) => html.includes(target) || /javascript:|alert\(/i.test(html));
    wrong.push(...ours.map((html) => `${page.url()} has ${html}`));
  };

  it('are plain text in the list of workflows', async () => {
    const page = await open(`/workflows?query=${encodeURIComponent(`RelayCompanyId="${companyId}"`)}`);
    await looked(page, new RegExp(held[0] ?? ''));
    await page.close();
    assert.deepEqual(wrong, []);
  });

  // The test opens only the first held chain, because `done` and `failed` have the same texts. One page of each other type is
  // enough.
  const isSeen = (id: string) => held.slice(1).some((chainId) => id.includes(chainId));
  const few = (type: string) => (type === 'RuleChain' ? extent(2, 5) : 1);
  const one = (type: string) => (type === 'RuleChain' ? 1 : 0); // Other types have no such texts in memo and search attributes.
  for (const [tab, most, shown] of [
    ['history', few, /sendAssignment|updateUdf|RuleChain|notice|DelayedAction|WorkflowExecution/i],
    ['user-metadata', few, /Summary|Details|No user metadata/i],
    ['memo', one, /./],
    ['search-attributes', one, /RelayCompanyId/],
  ] as const)
    it(`are plain text on the pages of a workflow: ${tab}`, async () => {
      const types = new Map<string, number>();
      for await (const { workflowId, runId, type } of stack.client.workflow.list({ query: `RelayCompanyId = '${companyId}'` })) {
        const before = types.get(type) ?? 0;
        if (before >= most(type) || isSeen(workflowId)) continue;
        types.set(type, before + 1);
        const page = await open(`/workflows/${encodeURIComponent(workflowId)}/${runId}/${tab}`);
        await looked(page, shown);
        await page.close();
      }
      for (const type of ['RuleChain', 'DelayedAction', 'Notifier'].filter(most)) assert(types.has(type), type);
      assert.deepEqual([wrong, asked], [[], []]);
    });
}
