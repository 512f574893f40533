/**
 * The Web UI at the address that `npm start` prints, in a real browser: a new user can read the texts, and pages of other origins
 * cannot.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { listen } from '../../cli/local-api.js';
import { missingBrowser, signIn, startBrowser } from '../../end-to-end/browser.js';
import { sandbox } from '../../end-to-end/process.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

if (missingBrowser) it('the Web UI of npm start', { skip: missingBrowser }, () => {});
else describe('the Web UI of npm start', lookAround);

/** The text of a page and its frames. */
async function textOf(page: Page): Promise<string> {
  const texts = page.frames().map((frame) => frame.evaluate<string>('document.body.innerText').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

const reads = (page: Page, ...words: RegExp[]) =>
  eventually(`${words} on ${page.url()}`, async () => {
    const text = await textOf(page);
    return words.every((part) => part.test(text)) || new Unmet(text);
  });

async function lookAround(): Promise<void> {
  const { directory, ports, start } = await sandbox();
  const browser = await startBrowser();
  const inData = (name: string) => readFileSync(join(directory, 'data', name), 'utf8').trim();
  const printed = (output: string) => /Temporal Web UI +(\S+)/.exec(output)?.[1] ?? assert.fail(output);
  const api = `http://127.0.0.1:${ports.PORT}`;
  const host = `127.0.0.1:${ports.RELAY_TEMPORAL_UI_PORT}`;

  const all = start();
  await all.says('Ctrl-C');
  const body = inData('examples/widen-then-alert.json');
  const posted = await fetch(`${api}/co/demo/relay`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  assert.equal(posted.status, 202, await posted.clone().text());
  const { workflowId } = (await posted.json()) as { workflowId: string };
  const list = printed(all.output());

  /** A payload of the chain, as Temporal has it. */
  const payloads = async () => {
    const history = await fetch(`http://${host}/api/v1/namespaces/default/workflows/${encodeURIComponent(workflowId)}/history`);
    const {
      history: { events },
    } = (await history.json()) as { history: { events: { workflowExecutionStartedEventAttributes: { input: object } }[] } };
    return events[0]?.workflowExecutionStartedEventAttributes.input ?? assert.fail();
  };

  for (const name of ['127.0.0.1', 'localhost'])
    it(`shows a chain in clear text to everybody who opens it, as ${name}`, async () => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 1300 } });
      await page.goto(list.replace('127.0.0.1', name));
      await page.getByRole('link', { name: workflowId, exact: true }).click();
      await page.waitForURL(/\/workflows\/relay/);
      const sealed = /could not connect|Decoding failed|binary\/encrypted|[A-Za-z0-9+/]{60}/;
      // The texts are in the summary, the timeline and the input.
      await reads(page, /demo: \d actions/, /Alert the manager: \d+ s after the event/, /"groupIds": \[/);
      assert.doesNotMatch(await textOf(page), sealed);
      await page.goto(page.url().replace(/\/history.*$/, '/user-metadata'));
      await reads(page, /demo: \d actions.*Current Details.*State\s+Action\s+Remark/s);
      assert.doesNotMatch(await textOf(page), sealed);
      await page.close();
    });

  it('gives nothing to pages of other origins, with and without credentials', async () => {
    const evil = await listen((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html><p>evil</p>'));
    after(evil.close);
    const input = JSON.stringify(await payloads());
    assert.match(input, /YmluYXJ5L2VuY3J5cHRlZA/); // binary/encrypted
    const page = await browser.newPage();
    await signIn(page, api, inData('admin-token'));
    const ask = async (at: string, settings: string) => {
      const options = `{ method: 'POST', ${settings}, body: ${JSON.stringify(input)} }`;
      return page.evaluate<string>(`fetch('${at}', ${options}).then((answer) => answer.text()).catch(() => 'not read')`);
    };
    await page.goto(list);
    const json = "headers: { 'Content-Type': 'application/json' }";
    assert.match(await ask('/relay/codec/decode', json), /"payloads"/);
    const own = ['127.0.0.1', 'localhost'].map((name) => `http://${name}:${ports.RELAY_TEMPORAL_UI_PORT}/relay/codec/decode`);
    for (const origin of [evil.url, evil.url.replace('127.0.0.1', 'localhost')]) {
      await page.goto(origin);
      for (const at of [...own, `${api}/codec/decode`])
        for (const settings of [json, `${json}, credentials: 'include'`, "credentials: 'include'"])
          assert.equal(await ask(at, settings), 'not read', `${origin} asks ${at}: ${settings}`);
    }
    await page.close();
  });

  it('gives nothing to a page whose name leads to this machine (DNS rebinding), and nothing to a page without an origin', async () => {
    const rebound = await startBrowser(['--host-resolver-rules=MAP evil.example 127.0.0.1']);
    const page = await rebound.newPage();
    const answer = await page.goto(`http://evil.example:${ports.RELAY_TEMPORAL_UI_PORT}/namespaces/default/workflows`);
    assert.equal(answer?.status(), 421);
    const ask = (at: string) =>
      `fetch('${at}', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }).then((answer) => answer.status).catch(() => 0)`;
    assert.equal(await page.evaluate(ask('/relay/codec/decode')), 421);
    const sealed = await browser.newPage();
    await sealed.goto('data:text/html,<p>of no origin</p>');
    assert.equal(await sealed.evaluate(ask(`http://${host}/relay/codec/decode`)), 0);
    await Promise.all([page.close(), sealed.close()]);
  });

  it('asks for a session if the API is open to other machines; then `npm start` prints another address', async () => {
    assert.equal(await all.end('SIGINT'), 0);
    const open = start({ HOST: '0.0.0.0' });
    await open.says('Ctrl-C');
    const address = printed(open.output());
    assert.equal(address, `${api}/web-ui/workflows`);
    const input = JSON.stringify(await payloads());
    const own = { 'content-type': 'application/json', origin: `http://${host}` };
    for (const at of [`http://${host}/relay/codec/decode`, `${api}/codec/decode`]) {
      const answer = await fetch(at, { method: 'POST', headers: own, body: input });
      assert.notEqual(answer.status, 200, at);
      const text = await answer.text();
      assert.doesNotMatch(text, /payloads/, at);
      if (at.startsWith(api)) assert.ok(text.includes(`sign in at ${address}`), text);
    }
    const page = await browser.newPage({ viewport: { width: 1280, height: 1300 } });
    await page.goto(address);
    await page.getByLabel('Admin token or company key').fill(inData('admin-token'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`http://${host}/namespaces/default/workflows`);
    await page.goto(`http://${host}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`);
    await reads(page, /groupIds/);
    await page.close();
    assert.equal(await open.end('SIGTERM'), 0);
  });

  it('asks for a session, too, if the environment sets encryption keys or an address', async () => {
    const variables: Record<string, string>[] = [
      { RELAY_PUBLIC_URL: 'https://relay.example.com' },
      { TEMPORAL_UI_URL: `http://localhost:${ports.RELAY_TEMPORAL_UI_PORT}` },
      { RELAY_ENCRYPTION_KEYS: inData('encryption-keys') },
    ];
    for (const env of variables) {
      const asking = start(env);
      await asking.says('Ctrl-C');
      const { RELAY_PUBLIC_URL: url = api } = env;
      assert.equal(printed(asking.output()), `${url}/web-ui/workflows`);
      const { Codec } = (await (await fetch(`http://${host}/api/v1/settings`)).json()) as { Codec: object };
      assert.deepEqual(Codec, { Endpoint: `${url}/codec`, IncludeCredentials: true });
      assert.equal(await asking.end('SIGTERM'), 0);
    }
  });
}
