/**
 * Schemathesis, an independent API tester. It generates requests from /openapi.json, and checks the answers against that
 * document.
 */

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const version = '4.32.5';

/** The Python of a virtual environment with Schemathesis, in the user's cache; the first caller creates it. */
export async function findSchemathesis(): Promise<{ python: string } | { missing: string }> {
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'relay');
  const directory = join(cache, `schemathesis-${version}`);
  const pythonIn = (directory: string) => join(directory, 'bin', 'python');
  if (existsSync(pythonIn(directory))) return { python: pythonIn(directory) };
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'work-'));
  const run = promisify(execFile);
  try {
    await run('python3', ['-m', 'venv', work]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
    await run(pythonIn(work), [...pip, `schemathesis==${version}`]);
    renameSync(work, directory);
    return { python: pythonIn(directory) };
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr || error).trim();
    return { missing: `Schemathesis cannot be installed: ${said.split('\n').at(-1)}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export interface Visit {
  python: string;
  url: string;
  bearer?: string;
  seconds: number;
  seed: number;
  /** Values of parameters, such as `path.companyId`. Schemathesis invents all other values. */
  parameters: Record<string, string>;
  /** Values for single operations, by operation id. */
  instead: Record<string, Record<string, string>>;
}

/** @returns the output of Schemathesis, and whether there was no error */
export async function visit({ python, url, bearer, seconds, seed, parameters, instead }: Visit) {
  const directory = mkdtempSync(join(tmpdir(), 'relay-schemathesis-'));
  const config = join(directory, 'schemathesis.toml');
  const table = (values: Record<string, string>) =>
    `{ ${Object.entries(values)
      .map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
      .join(', ')} }`;
  writeFileSync(
    config,
    [
      `parameters = ${table(parameters)}`,
      ...Object.entries(instead).map(
        ([id, values]) => `[[operations]]\ninclude-operation-id = "${id}"\nparameters = ${table({ ...parameters, ...values })}`,
      ),
    ].join('\n'),
  );
  const checks = [
    ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
    // The check of `Allow` is omitted. For `chains/bulk`, this header also names the methods of `chains/{chainId}`, because a
    // chain could have the id `bulk`.
    ...['response_schema_conformance', 'unsupported_method'],
  ];
  const options = [
    ...['--checks', checks.join(','), '--max-time', `${seconds}`, '--seed', `${seed}`, '--continue-on-failure'],
    ...['--max-redirects', '0', '--request-timeout', '30', '--suppress-health-check', 'all', '--warnings', 'off'],
    ...(bearer === undefined ? [] : ['--header', `Authorization: Bearer ${bearer}`]),
  ];
  const cli = ['-m', 'schemathesis.cli', '--config-file', config, 'run', `${url}/openapi.json`, ...options];
  const child = spawn(python, cli, { cwd: directory, env: { ...process.env, NO_COLOR: '1', COLUMNS: '160' } });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  rmSync(directory, { recursive: true, force: true });
  return { said, isClean: code === 0 };
}
