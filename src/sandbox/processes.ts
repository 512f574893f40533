/** Identifies other processes by pid and start time, and ends them. */

import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** The system can reuse a pid, but a pid with its start time is unique. */
type RunningProcess = { pid: number; start: string };

const hasProc = existsSync('/proc/self/stat');

/** The start time of the process as letters and digits. Undefined if there is no such process, or the process is a zombie. */
export function startOf(pid: number): string | undefined {
  if (!hasProc) {
    const [state = '', ...started] = ps(pid, 'stat=,lstart=').split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join('').replace(/\W/g, '');
  }
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the command in parentheses; the command may contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${fields[19]}b${read('/proc/sys/kernel/random/boot_id')?.slice(0, 8)}`;
}

export const isRunning = ({ pid, start }: RunningProcess) => startOf(pid) === start;

/** Returns the command and its arguments, joined by spaces. Empty if there is no such process. */
export const commandLine = (pid: number) =>
  hasProc ? (read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ') : ps(pid, 'command=');

/** Sends SIGTERM, and SIGKILL after `graceMs`. The promise resolves when the process has ended. */
export async function endProcess(target: RunningProcess, graceMs = 10_000): Promise<void> {
  const deadline = Date.now() + graceMs;
  for (let signal: NodeJS.Signals | undefined = 'SIGTERM'; isRunning(target); await sleep(50)) {
    if (signal !== undefined) sendSignal(target.pid, signal);
    signal = Date.now() < deadline ? undefined : 'SIGKILL';
  }
}

/**
 * Waits for a child that was spawned `detached`. Ends the child's whole process group if `signal` aborts or this process exits.
 * @returns the child's exit code, and the child's last line on stderr, without credentials
 */
export async function superviseChild(child: ChildProcess, signal?: AbortSignal) {
  const end = () => child.pid !== undefined && sendSignal(-child.pid, 'SIGTERM');
  process.once('exit', end);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    const [said] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'close')]);
    return { code: child.exitCode, lastLine: lastLineOf(said) };
  } finally {
    process.removeListener('exit', end);
    signal?.removeEventListener('abort', end);
  }
}

/** The last line with text, without credentials in URLs. */
export function lastLineOf(output: string): string {
  const line = output.split('\n').findLast((candidate) => candidate.trim() !== '') ?? '';
  return line.trim().replace(/\/\/[^@/\s]*@/g, '//***@');
}

const sendSignal = (pid: number, signal: NodeJS.Signals) => attempt(() => process.kill(pid, signal));

const read = (path: string) => attempt(() => readFileSync(path, 'utf8'));

function ps(pid: number, columns: string): string {
  const options = { encoding: 'utf8', stdio: 'pipe', env: { ...process.env, LC_ALL: 'C' } } as const;
  return attempt(() => execFileSync('ps', ['-ww', '-o', columns, '-p', `${pid}`], options).trim()) ?? '';
}

/** Returns undefined if `act` throws, because the process may have ended meanwhile. */
function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
