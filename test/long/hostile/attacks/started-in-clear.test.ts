/** The API and the worker are started without the secret or the encryption keys. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { freePort } from '../../../../src/service/server.js';
import { secrets } from '../../../end-to-end/deployment.js';
import { type Process, startProcess } from '../../../end-to-end/process.js';

const started: Process[] = [];
after(() => Promise.all(started.map((one) => one.end('SIGKILL'))));

const nowhere = await freePort('127.0.0.1');
const rest = {
  DATABASE_URL: `postgres://relay@127.0.0.1:${nowhere}/relay`,
  TEMPORAL_ADDRESS: `127.0.0.1:${nowhere}`,
  RELAY_ADMIN_TOKEN: 'admin-token-of-the-tests',
  SMTP_URL: `smtp://127.0.0.1:${nowhere}`,
  RELAY_SECRET: '',
  RELAY_ENCRYPTION_KEYS: '',
  RELAY_ALLOW_PLAIN_STORAGE: '',
};
const start = async (main: string, env: Record<string, string>) => {
  const one = startProcess(main, { ...rest, PORT: String(await freePort('127.0.0.1')), ...env });
  started.push(one);
  return one;
};

const ways: Record<string, string> = {
  RELAY_SECRET: 'openssl rand -hex 32',
  RELAY_ENCRYPTION_KEYS: 'echo "first:$(openssl rand -base64 32)"',
};
for (const main of ['api/main.js', 'worker/main.js'])
  describe(main, () => {
    for (const [missing, way] of Object.entries(ways))
      it(`does not start without ${missing}: one line says how to create it, and how to run without it`, async () => {
        const refused = await start(main, { ...secrets(), [missing]: '' });
        assert.equal(await refused.ended, 1);
        const [line = '', ...more] = refused.output().trimEnd().split('\n');
        assert.deepEqual(more, []);
        assert(line.startsWith(`${missing} is not set: `), line);
        for (const said of [` with: ${way} `, 'RELAY_ALLOW_PLAIN_STORAGE=true']) assert(line.includes(said), line);
      });

    it('does not start if RELAY_ALLOW_PLAIN_STORAGE is false or invalid', async () => {
      const no = await start(main, { RELAY_ALLOW_PLAIN_STORAGE: 'false' });
      assert.equal(await no.ended, 1);
      assert.match(no.output(), /^RELAY_SECRET is not set: .*\nRELAY_ENCRYPTION_KEYS is not set: .*\n$/);
      const perhaps = await start(main, { RELAY_ALLOW_PLAIN_STORAGE: 'perhaps' });
      assert.equal(await perhaps.ended, 1);
      assert.equal(perhaps.output(), 'RELAY_ALLOW_PLAIN_STORAGE must be true or false\n');
    });

    it('runs without both if RELAY_ALLOW_PLAIN_STORAGE=true', async () => {
      const plain = await start(main, { RELAY_ALLOW_PLAIN_STORAGE: 'true' });
      await plain.says(/cannot be reached: [^\n]*; trying again/);
    });
  });
