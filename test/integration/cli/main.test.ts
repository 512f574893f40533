import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scripted } from '../../cli/local-api.js';

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

describe('the relay command as a process', () => {
  let server: Awaited<ReturnType<typeof scripted>>;
  const companies = Array.from({ length: 20_000 }, (_, n) => ({
    companyId: `c${n}`,
    name: 'x',
    timeZone: 'UTC',
    createdAt: '2026-07-01T12:00:00Z',
    updatedAt: '2026-07-01T12:00:00Z',
  }));
  const accepted = {
    chainId: 'c1',
    workflowId: 'relay:acme:c1',
    receivedAt: '2026-07-01T12:00:00Z',
    actions: [],
    warnings: [],
    links: { chain: 'http://127.0.0.1:8080/co/acme/chains/c1' },
  };
  before(async () => {
    server = await scripted(({ method }) => ({
      body: method === 'GET' ? { companies } : accepted,
    }));
  });
  after(() => server.close());

  function start(words: readonly string[]) {
    const child = spawn(process.execPath, [program, ...words], { env: { PATH: process.env.PATH, RELAY_URL: server.url } });
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
    return child;
  }
  async function run(words: readonly string[], stdin = '') {
    const child = start(words);
    child.stdin.end(stdin);
    const [out, err, [code]] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')]);
    return { code, out: out.join(''), err: err.join('') };
  }

  it('starts with a line that runs it with node', () => {
    assert.match(readFileSync(program, 'utf8'), /^#!\/usr\/bin\/env node\n/);
  });

  it('reads standard input, writes both outputs, and exits with the code', async () => {
    assert.deepEqual(await run(['send', 'acme', '-', '--json'], '[ü]'), {
      code: 0,
      out: `${JSON.stringify(accepted)}\n`,
      err: '',
    });
    assert.equal(server.asked.at(-1)?.body, '[ü]');
    const wrong = await run(['companies', 'delete', 'acme']);
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.match(wrong.err, /with --yes\./);
    assert.equal((await run(['health', '--url', 'http://127.0.0.1:1'])).code, 3);
  });

  it('ends without an error when the reader of its output closes the pipe', async () => {
    const child = start(['companies']);
    const closed = once(child, 'close');
    const err = child.stderr.toArray();
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.deepEqual([(await closed)[0], await err], [0, []]);
  });
});
