/** Finds the Temporal dev server on PATH or in a cache. If there is none, downloads it with the SDK, or builds it with Go. */

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartError } from '../service/config.js';
import { makeDirectory } from './data-directory.js';
import { superviseChild } from './processes.js';

/**
 * The newest CLI that builds as a dependency: later versions need a replace directive, which Go ignores in a dependency. With the
 * CLI's own SQLite, one cancelled query makes every later request fail (`interrupted`). So `versions` has a newer SQLite.
 */
const versions = { 'github.com/temporalio/cli': '1.5.1', 'modernc.org/sqlite': '1.51.0' };
const version = versions['github.com/temporalio/cli'];
const sdkDownload = { script: fileURLToPath(new URL('./temporal-download.js', import.meta.url)), patienceMs: 15_000 };

export interface Search {
  dataDir: string;
  say: (line: string) => void; // reports progress, one line at a time
  signal?: AbortSignal;
  environment?: NodeJS.ProcessEnv;
  /** The argument of `script` is the target folder. The download fails after `patienceMs` without new bytes. */
  download?: typeof sdkDownload;
}

/** The path of a working `temporal` program. @throws StartError that lists the attempts and the programs to install */
export async function findTemporal({ environment = process.env, ...search }: Search): Promise<string> {
  const { XDG_CACHE_HOME = '', HOME = homedir() } = environment;
  const userCache = join(HOME, ...(process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']));
  const caches = [join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : userCache, 'relay'), join(search.dataDir, 'cache')];

  const onPath = which('temporal', environment);
  for (const program of [...onPath, ...caches.flatMap(cachedPrograms)]) if (await runs(program)) return program;
  const tried = [onPath.length === 0 ? '"temporal" is not on PATH' : `${onPath.join(', ')} does not run`, 'no copy is cached'];

  const folder = workFolder(caches);
  try {
    for (const [way, obtain] of Object.entries({ download, 'build with Go': build })) {
      try {
        const program = await obtain(folder, { ...search, environment });
        if (!(await runs(join(folder, program)))) throw new Error('the program does not run on this machine');
        const kept = join(dirname(folder), program);
        renameSync(join(folder, program), kept);
        return kept;
      } catch (error) {
        search.signal?.throwIfAborted();
        tried.push(`${way}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  throw new StartError(
    `no Temporal server (${tried.join('; ')}): install the Temporal CLI (docs.temporal.io/cli) or Go 1.25, ` +
      'or set TEMPORAL_ADDRESS to a running server',
  );
}

/** Puts the program into the folder. @returns the file name of the program */
type Obtain = (folder: string, search: Search & { environment: NodeJS.ProcessEnv }) => Promise<string>;

/** Downloads with `@temporalio/testing` in a child process, which the relay can end if the host does not answer. */
const download: Obtain = async (folder, { say, signal, environment, download: { script, patienceMs } = sdkDownload }) => {
  const env = withoutTemporal(environment);
  const child = spawn(process.execPath, [script, folder], { env, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  const givenUp = new AbortController();
  const ended = superviseChild(child, AbortSignal.any([givenUp.signal, ...(signal ? [signal] : [])]));
  const patience = setTimeout(() => givenUp.abort(), patienceMs);
  let seen = '';
  const watch = setInterval(() => {
    const now = readdirSync(folder).map((file) => `${statSync(join(folder, file), { throwIfNoEntry: false })?.size}`);
    if (`${now}` === seen) return;
    if (seen === '') say('downloading the Temporal dev server, once');
    seen = `${now}`;
    patience.refresh();
  }, 250);
  const { lastLine } = await ended.finally(() => {
    for (const timer of [watch, patience]) clearTimeout(timer);
  });
  const [program = ''] = readdirSync(folder);
  if (program !== '' && !program.endsWith('.downloading')) return program;
  throw new Error(givenUp.signal.aborted ? `no data for ${patienceMs / 1000} s` : lastLine || 'no data');
};

const build: Obtain = async (folder, { say, signal, environment }) => {
  const [go] = which('go', environment);
  if (go === undefined) throw new Error('Go is not installed');
  say('building the Temporal dev server with Go: about 3 minutes, once');
  const progress = setInterval(() => say('still building the Temporal dev server'), 30_000);
  const { GOOS: _os, GOARCH: _arch, ...rest } = environment;
  const env = { ...rest, GOWORK: 'off' };
  const requires = Object.entries(versions).map(([module, version]) => `require ${module} v${version}\n`);
  writeFileSync(join(folder, 'go.mod'), `module relay\n\ngo 1.25.0\n\n${requires.join('')}`);
  const program = `temporal-${Object.values(versions).join('-sqlite-')}`;
  const named = ['-ldflags', `-X github.com/temporalio/cli/temporalcli.Version=${version}`, '-o', program];
  const args = ['build', '-mod=mod', ...named, 'github.com/temporalio/cli/cmd/temporal'];
  const child = spawn(go, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, lastLine } = await superviseChild(child, signal).finally(() => clearInterval(progress));
  if (code !== 0) throw new Error(lastLine || `go build ended with ${code}`);
  return program;
};

/** Whether the program is a Temporal CLI that runs on this machine. */
async function runs(program: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 20_000, env: withoutTemporal(process.env) });
    return /^temporal version .*Server/.test(stdout);
  } catch {
    return false;
  }
}

/** Removes the client settings of the Temporal CLI, because these settings are for another server. */
export const withoutTemporal = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')));

function which(program: string, { PATH = '' }: NodeJS.ProcessEnv): string[] {
  const folders = PATH.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, program)).filter(existsSync);
}

function cachedPrograms(cache: string): string[] {
  const names = existsSync(cache) ? readdirSync(cache) : [];
  return names.filter((name) => name.startsWith('temporal-')).map((name) => join(cache, name));
}

/** Makes a folder in the first writable cache, so that a rename can move the program into the cache. Removes old folders. */
function workFolder(caches: string[]): string {
  for (const cache of caches) {
    try {
      makeDirectory(cache);
      for (const name of readdirSync(cache).filter((name) => name.startsWith('work-'))) {
        const left = statSync(join(cache, name), { throwIfNoEntry: false });
        if (left && Date.now() - left.mtimeMs > 86_400_000) rmSync(join(cache, name), { recursive: true, force: true });
      }
      return mkdtempSync(join(cache, 'work-'));
    } catch {}
  }
  throw new StartError(`no Temporal server is cached, and ${caches.join(' and ')} cannot be written`);
}
