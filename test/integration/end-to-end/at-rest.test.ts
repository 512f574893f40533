/**
 * No text of a company is readable at rest: neither in the files of Temporal's database nor in a log. Without keys, the same
 * chains leave each text in Temporal's database. This proves that the search finds texts.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answering, startHttp } from '../../connectors/local-http.js';
import { email, eventually, type Stack, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const marked = (what: string) => `${what}-${randomUUID().slice(0, 12)}`;

/** Unique texts that a search can find. */
function makeTexts() {
  return {
    'a recipient': `${marked('jane')}@example.org`,
    'a refused recipient': `${marked('joe')}@example.org`,
    'a subject': marked('subject'),
    'the text of an e-mail': marked('text'),
    'the HTML of an e-mail': marked('html'),
    'a comment': marked('comment'),
    'the value of a condition': marked('status'),
    'the value of a field of a ticket': marked('value'),
    'what a platform says of a failure': marked('Jane Roe, 555 0100'),
    'who steered': marked('key'),
    'a contact': `${marked('admin')}@example.org`,
  };
}
type Texts = ReturnType<typeof makeTexts>;

/** The password is never in Temporal, with or without keys. */
const password = marked('password');

const actor = { kind: 'admin' } as const;

/** Runs chains that succeed, fail, are held, steered or cancelled. @returns the company, and the texts in its chains. */
async function runChains(stack: Stack) {
  const texts = makeTexts();
  const company = await stack.company();
  const { companyId } = company;
  const failing = await startHttp();
  failing.answer = answering(422, { error: texts['what a platform says of a failure'] });
  await stack.store.companies.put(
    companyId,
    () => ({
      companyId,
      name: 'Careful',
      timeZone: 'UTC',
      notify: { emails: [texts['a contact']] },
      platform: { kind: 'http', baseUrl: failing.url, auth: { type: 'basic', username: 'relay', password } },
      ticketing: { kind: 'http', baseUrl: stack.platform.url },
    }),
    actor,
  );
  const key = await stack.store.keys.create(companyId, texts['who steered'], actor);
  assert(typeof key === 'object');
  const comment = texts['a comment'];
  const letter = {
    subject: texts['a subject'],
    body: texts['the text of an e-mail'],
    bodyHtml: `<p>${texts['the HTML of an e-mail']}</p>`,
    comment,
  };
  await stack.breakMail({ code: 550, to: texts['a refused recipient'] });
  const chain = await company.start([
    email([texts['a recipient'], texts['a refused recipient']], letter),
    udf('T', { cfValue: texts['the value of a field of a ticket'], comment }),
    send('1', { groupId: '501', comment }),
    udf('T', {
      incomingValue: 'no',
      actionCondition: `incomingValue==${texts['the value of a condition']}`,
      delayInSeconds: '1',
    }),
  ]);
  await company.action(chain.chainId, 2, 'needs-attention');
  await company.action(chain.chainId, 3, 'skipped');
  await stack.mails(texts['a contact'], 2);
  const skip = `${stack.links.api}/co/${companyId}/chains/${chain.chainId}/actions/2/skip`;
  const headers = { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' };
  assert.equal((await fetch(skip, { method: 'POST', headers, body: '{}' })).status, 202);
  await company.ended(chain.chainId);

  const cancelled = await company.start([email([texts['a recipient']], { ...letter, delayInSeconds: '3000' })]);
  await company.action(cancelled.chainId, 0, 'scheduled');
  await company.steer(cancelled.chainId, 'cancel');
  await company.ended(cancelled.chainId);
  await stack.healMail();
  return { companyId, texts };
}

/** All files of the Temporal server: the database with its write-ahead log, and the server's log. */
function temporalFiles(stack: Stack): Buffer {
  const names = readdirSync(stack.temporalDirectory).filter((name) => name.startsWith('temporal'));
  assert(names.includes('temporal.db'), `no temporal.db in ${stack.temporalDirectory}`);
  return Buffer.concat(names.map((name) => readFileSync(join(stack.temporalDirectory, name))));
}

async function written(stack: Stack, text: string): Promise<void> {
  await eventually(`${text} in Temporal's files`, async () => temporalFiles(stack).includes(text) || new Unmet('not found'));
}

const stack = await startStack();
const plain = await startStack({ keyring: null, isSecond: true });

describe('with keys', () => {
  let [companyId, texts]: [string, Texts | undefined] = ['', undefined];

  it("Temporal's files contain no text of a company", async () => {
    ({ companyId, texts } = await runChains(stack));
    await written(stack, companyId);
    const files = temporalFiles(stack);
    for (const [what, text] of Object.entries(texts)) assert(!files.includes(text), `${what} is in Temporal's files`);
    assert(!files.includes(password));
  });

  it('the log contains no text of a company', () => {
    const log = stack.logged();
    assert(log.includes(companyId));
    for (const [what, text] of Object.entries(texts ?? {})) assert(!log.includes(text), `${what} is in the log`);
    assert(!log.includes(password));
  });
});

describe('without keys', () => {
  it("Temporal's files contain every text, except secrets", async () => {
    const { companyId, texts } = await runChains(plain);
    await written(plain, companyId);
    const files = temporalFiles(plain);
    for (const [what, text] of Object.entries(texts)) assert(files.includes(text), `${what} is not in Temporal's files`);
    assert(!files.includes(password));
  });

  it("a chain's failure stays readable for tools without a codec", async () => {
    const company = await plain.company({ onFailure: 'continue' });
    const { chainId, workflowId } = await company.start([send('404404', { groupId: '501' })]);
    await company.ended(chainId);
    const { events } = await plain.client.workflow.getHandle(workflowId).fetchHistory();
    assert.match(events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure?.message ?? '', /^1 of 1 action failed/);
  });
});
