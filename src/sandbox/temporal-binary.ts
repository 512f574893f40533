/** Finds the program of the Temporal dev server: on PATH, in a cache, by the SDK's own download, or built with Go. */

import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartError } from '../service/config.js';
import { makeDirectory } from './data-directory.js';
import { superviseChild } from './processes.js';

/** The newest version that `go install` takes: later ones carry a replace directive. */
const version = '1.5.1';
const goPackage = `github.com/temporalio/cli/cmd/temporal@v${version}`;
const isMac = process.platform === 'darwin';

export interface Search {
  dataDir: string;
  /** Gets a line on what is going on while it takes long. */
  say: (line: string) => void;
  /** Ends a download or a build. */
  signal?: AbortSignal;
  /** PATH, HOME, XDG_CACHE_HOME, and what Go reads. */
  environment?: NodeJS.ProcessEnv;
  /** `script` is run with the folder to download into; `patienceMs` is how long nothing may come. */
  download?: { script: string; patienceMs: number };
}

const sdkDownload = { script: fileURLToPath(new URL('./temporal-download.js', import.meta.url)), patienceMs: 15_000 };

/**
 * The path of a `temporal` program that runs.
 * @throws StartError when there is none, with what was tried and what to install
 */
export async function findTemporal(search: Search): Promise<string> {
  const environment = search.environment ?? process.env;
  const { XDG_CACHE_HOME = '', HOME = homedir() } = environment;
  const ofUser = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME, ...(isMac ? ['Library', 'Caches'] : ['.cache']));
  const caches = [join(search.dataDir, 'cache'), join(ofUser, 'relay')] as const;
  const tried: string[] = [];

  const onPath = which('temporal', environment);
  if (onPath !== undefined && (await runs(onPath))) return onPath;
  tried.push(onPath === undefined ? '"temporal" is not on PATH' : `${onPath} does not run`);

  for (const program of caches.flatMap(cachedPrograms)) if (await runs(program)) return program;
  tried.push('no copy is cached');

  const cache = writableFolder(caches);
  for (const [name, obtain] of [['download', download] as const, ['build with Go', build] as const]) {
    try {
      return await inWorkFolder(cache, async (folder) => {
        const program = await obtain(folder, { ...search, environment });
        if (!(await runs(join(folder, program)))) throw new Error('what came does not run here');
        renameSync(join(folder, program), join(cache, program));
        return join(cache, program);
      });
    } catch (error) {
      search.signal?.throwIfAborted();
      tried.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new StartError(
    `no Temporal server (${tried.join('; ')}): install the Temporal CLI (docs.temporal.io/cli) or Go 1.25, ` +
      'or set TEMPORAL_ADDRESS to a server that runs',
  );
}

/** Puts a program into the folder. @returns its name there */
type Obtain = (folder: string, search: Search & { environment: NodeJS.ProcessEnv }) => Promise<string>;

/**
 * The download that `@temporalio/testing` makes. It has no function for the download alone: it starts a server and stops it
 * again. It does so in a child process, which can be ended when the host is out of reach, and has a native runtime of its own.
 */
const download: Obtain = async (folder, { say, signal, environment, download: { script, patienceMs } = sdkDownload }) => {
  const env = withoutTemporal(environment);
  const child = spawn(process.execPath, [script, folder], { env, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  const givenUp = new AbortController();
  const ended = superviseChild(child, AbortSignal.any([givenUp.signal, ...(signal ? [signal] : [])]));
  let seen = '';
  let moved = Date.now();
  const watch = setInterval(() => {
    const [file] = readdirSync(folder);
    const now = file === undefined ? '' : `${file} ${statSync(join(folder, file), { throwIfNoEntry: false })?.size}`;
    if (seen === '' && now !== '') say('downloading the Temporal dev server, once');
    if (now !== seen) moved = Date.now();
    seen = now;
    if (Date.now() - moved > patienceMs) givenUp.abort();
  }, 250);
  const { lastLine } = await ended.finally(() => clearInterval(watch));
  const [program = ''] = readdirSync(folder);
  if (program !== '' && !program.endsWith('.downloading')) return program;
  throw new Error(givenUp.signal.aborted ? `nothing came for ${patienceMs / 1000} s` : lastLine || 'nothing came');
};

const build: Obtain = async (folder, { say, signal, environment }) => {
  const go = which('go', environment);
  if (go === undefined) throw new Error('Go is not installed');
  say('building the Temporal dev server with Go: about 3 minutes, once');
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const progress = setInterval(() => say(`still building the Temporal dev server (${seconds()} s)`), 30_000);
  const { GOOS: _os, GOARCH: _arch, ...env } = environment;
  const how = { cwd: folder, env: { ...env, GOBIN: folder }, detached: true };
  const child = spawn(go, ['install', goPackage], { ...how, stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, lastLine } = await superviseChild(child, signal).finally(() => clearInterval(progress));
  if (code !== 0) throw new Error(lastLine || `go install ended with ${code}`);
  renameSync(join(folder, 'temporal'), join(folder, `temporal-${version}`));
  return `temporal-${version}`;
};

/** Whether it is the Temporal CLI, and runs on this machine. */
async function runs(program: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 20_000, env: withoutTemporal(process.env) });
    return /^temporal version .*Server/.test(stdout);
  } catch {
    return false;
  }
}

/** The environment without the client settings of the Temporal CLI, which are about another server. */
export function withoutTemporal(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

function which(program: string, environment: NodeJS.ProcessEnv): string | undefined {
  const folders = (environment.PATH ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function cachedPrograms(cache: string): string[] {
  const names = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('temporal-')) : [];
  return names.map((name) => join(cache, name)).filter(isExecutable);
}

/** The user's cache folder if it can be written, since other checkouts look there too; otherwise that in the data directory. */
function writableFolder([inData, ofUser]: readonly [string, string]): string {
  const writable = [ofUser, inData].find((folder) => {
    try {
      makeDirectory(folder);
      accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (writable !== undefined) return writable;
  throw new StartError(`no Temporal server is cached, and neither ${ofUser} nor ${inData} can be written to fetch one`);
}

/** A folder beside the result, so that it can be moved there in one step. What an earlier attempt left is removed after a day. */
async function inWorkFolder<T>(cache: string, work: (folder: string) => Promise<T>): Promise<T> {
  for (const name of readdirSync(cache).filter((name) => name.startsWith('work-'))) {
    const left = statSync(join(cache, name), { throwIfNoEntry: false });
    if (left !== undefined && Date.now() - left.mtimeMs > 86_400_000) rmSync(join(cache, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(cache, 'work-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
