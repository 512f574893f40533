/** `npm start` refuses to start, with one clear line. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sandbox, serversOf } from '../../end-to-end/process.js';

const { directory, ports, start } = await sandbox();

describe('npm start exits with code 1 and one line that says what to do', () => {
  for (const name of Object.keys(ports)) {
    it(`if the port of ${name} is in use`, async () => {
      const taken = createServer().listen(Number(ports[name]), '127.0.0.1');
      const refused = start({ RELAY_DATA_DIR: join(directory, `taken-${name}`) });
      assert.equal(await refused.ended, 1);
      taken.close();
      assert.match(refused.output(), new RegExp(`^port ${ports[name]} is in use[^\n]*${name}\n$`));
      assert.deepEqual(serversOf(`taken-${name}`), []);
    });
  }

  it('if the directory is not writable', async () => {
    const file = join(directory, 'a-file');
    writeFileSync(file, '');
    const refused = start({ RELAY_DATA_DIR: join(file, 'data') });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^[^\n]*RELAY_DATA_DIR[^\n]*\n$/);
  });

  it('if a variable is wrong, with its name and without its value', async () => {
    const refused = start({ PORT: 'eighty', RELAY_ADMIN_TOKEN: 'short-secret' });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^PORT must be a port number\nRELAY_ADMIN_TOKEN must have at least 16 characters\n$/);
  });

  it('if the given Temporal server cannot be reached', async () => {
    const refused = start({ RELAY_DATA_DIR: join(directory, 'away'), TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^Temporal cannot be reached at 127\.0\.0\.1:1, [^\n]*TEMPORAL_ADDRESS[^\n]*\n$/);
  });

  it('if no Temporal server is available', async () => {
    const refused = start({
      RELAY_DATA_DIR: join(directory, 'none'),
      PATH: '/nowhere',
      XDG_CACHE_HOME: join(directory, 'empty'),
      HOME: join(directory, 'empty'),
    });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output().trim().split('\n').at(-1) ?? '', /temporal/i);
  });
});
