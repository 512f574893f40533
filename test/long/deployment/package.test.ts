/**
 * The package of `npm pack`, installed in an empty folder without dev dependencies, runs an API, a worker and a chain. For a
 * release, the test builds the package from a copy of the sources. Otherwise, the package contains the files that this test run
 * has built.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { deployment } from '../../end-to-end/deployment.js';
import { startProgram } from '../../end-to-end/process.js';
import { companyAt, udf } from '../../end-to-end/stack.js';
import { isRelease } from '../../extent.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const packageJson = z
  .object({ version: z.string(), devDependencies: z.record(z.string(), z.string()), bin: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

/** Packs a copy of the sources: building a package removes `dist`, from which this test runs. @returns the package's file. */
function pack(directory: string): string {
  const copy = join(directory, 'sources');
  const files = execFileSync('git', ['-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  }).split('\0');
  for (const file of files) {
    if (file === '' || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  if (!isRelease) cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  npm(copy, 'pack', '--pack-destination', directory, ...(isRelease ? [] : ['--ignore-scripts']));
  return join(directory, `relay-${packageJson.version}.tgz`);
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', [...args, '--prefer-offline', '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 600_000,
  });
}

describe('the package', { skip }, async () => {
  if (skip) return;
  const directory = mkdtempSync(join(tmpdir(), 'relay-package-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const user = join(directory, 'user');
  mkdirSync(user);
  writeFileSync(join(user, 'package.json'), '{ "private": true }');
  npm(user, 'install', '--ignore-scripts', pack(directory));
  const modules = join(user, 'node_modules');
  const run = (bin: string, args: string[], env = {}) =>
    execFileSync(join(modules, '.bin', bin), args, { cwd: user, encoding: 'utf8', env: { ...process.env, ...env } });

  it('contains no development dependency, and no sandbox', () => {
    // The list omits the dev dependencies that other packages also need, because these are installed.
    for (const name of ['typescript', '@biomejs/biome', '@temporalio/testing', '@electric-sql/pglite', 'playwright-core'])
      assert(name in packageJson.devDependencies && !existsSync(join(modules, name)), name);
    for (const folder of ['dist/src/sandbox', 'dist/test', 'dist/bench', 'src', 'test'])
      assert(!existsSync(join(modules, 'relay', folder)), folder);
  });

  it('runs an API with its console, a worker and a chain, with PostgreSQL and Temporal', async () => {
    assert.match(run('relay', ['--help']), /^Usage: relay/);
    const { adminToken, env, url, platform } = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
    for (const [bin, said] of [
      ['relay-api', 'Temporal can be reached'],
      ['relay-worker', 'the worker runs'],
    ] as const) {
      assert(bin in packageJson.bin);
      const started = startProgram(join(modules, '.bin', bin), [], { env, cwd: user });
      closing.push(() => started.end('SIGTERM'));
      await started.says(said);
    }
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const ask = async (method: string, path: string, body: unknown) => {
      const answer = await fetch(`${url}/admin/companies/acme${path}`, { method, headers, body: JSON.stringify(body) });
      assert.equal(answer.status, 201, await answer.clone().text());
      return answer.json();
    };
    const system = { kind: 'http', baseUrl: platform.url };
    await ask('PUT', '', { name: 'Acme', notify: { emails: ['a@acme.example'] }, platform: system, ticketing: system });
    const rule = z
      .object({ relayId: z.string(), relayAccessToken: z.string() })
      .parse(await ask('POST', '/rules', { name: 'Rule' }));
    const company = companyAt(url, adminToken, { companyId: 'acme', ...rule });
    const { chainId } = await company.start([udf('T'), udf('T', { delayInSeconds: '1' })]);
    assert.equal((await company.ended(chainId)).status, 'completed');
    assert.match(run('relay', ['chains', 'list', 'acme'], { RELAY_URL: url, RELAY_ADMIN_TOKEN: adminToken }), /completed/);

    const begun = await fetch(`${url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ credential: adminToken }),
    });
    const cookie = begun.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
    const page = await (await fetch(`${url}/companies/acme`, { headers: { cookie } })).text();
    const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert(assets.some((path) => path.endsWith('.js')) && assets.some((path) => path.endsWith('.css')), page);
    for (const path of assets) assert.equal((await fetch(url + path)).status, 200, path);
  });
});
