import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { commandLine, endProcess, isRunning, lastLineOf, startOf, superviseChild } from '../../../src/sandbox/processes.js';

/** A process that runs this code, prints `ready` and stays. */
async function start(onTerm: string) {
  const child = spawn(process.execPath, ['-e', `${onTerm}; setInterval(() => {}, 1000); console.log('ready')`]);
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  return { child, process: { pid, start: startOf(pid) ?? '' } };
}

describe('processes', () => {
  it('distinguishes a process from a later one with the same pid', () => {
    const start = startOf(process.pid);
    assert.match(start ?? '', /^\w+$/);
    assert.equal(isRunning({ pid: process.pid, start: start ?? '' }), true);
    assert.equal(isRunning({ pid: process.pid, start: '1' }), false);
    assert.ok(commandLine(process.pid).includes(process.argv[1] ?? assert.fail()));
  });

  it('stops a process that obeys SIGTERM', async () => {
    const { child, process } = await start('');
    await endProcess(process);
    assert.equal(isRunning(process), false);
    if (child.signalCode === null) await once(child, 'exit');
    assert.equal(child.signalCode, 'SIGTERM');
    await endProcess(process);
  });

  it('kills a process that ignores SIGTERM', async () => {
    const { child, process } = await start("process.on('SIGTERM', () => {})");
    await endProcess(process, 100);
    if (child.signalCode === null) await once(child, 'exit');
    assert.equal(child.signalCode, 'SIGKILL');
  });

  it('supervises a child: its exit code, and its last error line without passwords', async () => {
    const script = "console.error('first\\nreading https://me:secret@example.com/x: refused\\n'); process.exitCode = 3";
    const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    assert.deepEqual(await superviseChild(child), { code: 3, lastLine: 'reading https://***@example.com/x: refused' });
  });

  it('stops a supervised child with all its children', async () => {
    const stay = 'setInterval(() => {}, 1000)';
    const script = `console.log(require('node:child_process').spawn(process.execPath, ['-e', '${stay}']).pid); ${stay}`;
    const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const abort = new AbortController();
    const ended = superviseChild(child, abort.signal);
    const grandchild = Number(await once(child.stdout, 'data'));
    const running = { pid: grandchild, start: startOf(grandchild) ?? '' };
    assert.equal(isRunning(running), true);
    abort.abort();
    assert.equal((await ended).code, null);
    while (isRunning(running)) await new Promise(setImmediate);
  });

  it('finds the last line with text', () => assert.equal(lastLineOf('one\ntwo\n\n'), 'two'));
});
