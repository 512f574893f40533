/** Logs errors as the relay does. No line has an address, a credential, or a word of an outside system. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ActivityFailure, RetryState } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { effectFailure } from '../../../src/activities/failure.js';
import { ConnectorError } from '../../../src/connectors/call.js';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createMailer } from '../../../src/connectors/mail.js';
import { createLog } from '../../../src/service/telemetry.js';
import { answering, startHttp } from '../../connectors/local-http.js';
import { startScriptedSmtp } from '../../connectors/scripted-smtp.js';
import { openEmptied } from '../../store/emptied.js';

const personal = /ada|people\.example|s3cret|Jane Roe|555 0100/i;
const call = { timeoutMs: 5000 };

const thrownBy = async (work: Promise<unknown>): Promise<Error> => {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error instanceof Error ? error : assert.fail('nothing was thrown');
};

/** Real errors, each with a text that must not be logged. */
const failures: Record<string, () => Promise<Error>> = {
  async 'mail refused for an address'() {
    const { port } = await startScriptedSmtp({ RCPT: '550 <ada@people.example> is unknown here' });
    const mailer = createMailer(`smtp://127.0.0.1:${port}`, { allowPrivateNetworks: true });
    const message = {
      from: 'relay@relay.example',
      to: 'ada@people.example',
      subject: 's',
      text: 's3cret',
      messageId: 'm@relay.invalid',
    };
    return thrownBy(mailer.send(message, call));
  },
  async 'a platform that answers with personal data'() {
    const platform = await startHttp();
    platform.answer = answering(422, { error: 'Jane Roe, 555 0100, is ada@people.example' });
    const url = new URL(platform.url);
    return thrownBy(
      createHttpClient({ allowPrivateNetworks: true }).request({ method: 'POST', url, body: {}, call, what: 'it' }),
    );
  },
  async 'a statement that the database refuses'() {
    const database = await openEmptied();
    await database.query('CREATE TABLE strict (name text, mail text NOT NULL)');
    const error = await thrownBy(database.query('INSERT INTO strict (name) VALUES ($1)', ['Jane Roe, ada@people.example']));
    await database.close();
    return error;
  },
  async 'a message of several lines and addresses'() {
    return new Error('none of these:\nada@people.example!ada@people.example\tada@people.example');
  },
  async 'a message with a password in a URL'() {
    return new Error('smtp://ada:s3cret@127.0.0.1:25 and ada.l+x@people.example cannot be reached');
  },
};

/** Logs the error three times: thrown directly, in an activity, and in a workflow. @returns the log lines */
async function logged(error: Error): Promise<string> {
  const lines: string[] = [];
  const log = createLog('trace', { write: (line) => lines.push(line) });
  let handedOn = error;
  await new MockActivityEnvironment().run(async () => {
    if (error instanceof ConnectorError) handedOn = effectFailure('platform', error, { retryBudgetSeconds: 1 });
  });
  const failure = new ActivityFailure('Activity task failed', 'sendEmail', '1', RetryState.TIMEOUT, 'worker', handedOn);
  log.error({ err: error, companyId: 'acme' }, 'it failed');
  log.warn({ error: failure, workflowId: 'relay:acme:c1' }, 'Activity failed');
  assert.equal(lines.length, 2);
  for (const line of lines) JSON.parse(line);
  return lines.join('');
}

for (const [what, fail] of Object.entries(failures))
  it(`${what} causes a log line without personal data, which says what failed where`, async () => {
    const error = await fail();
    assert.match(`${error.message} ${JSON.stringify(error)}`, personal, 'nothing would be found');
    const text = await logged(error);
    assert.doesNotMatch(text, personal);
    for (const expected of ['acme', 'it failed', 'Activity failed', 'log.test', `"name":"${error.name}"`])
      assert.ok(text.includes(expected), `${expected} is not in ${text}`);
  });

it("drops fields with a secret's name", () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  log.info({ token: 's3cret', headers: { authorization: 'Bearer s3cret', cookie: 's3cret' }, companyId: 'acme' }, 'asked');
  assert.doesNotMatch(lines.join(''), /s3cret/);
  assert.match(lines.join(''), /acme/);
});
