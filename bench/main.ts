/**
 * `npm run bench` compares the relay with Temporal without the relay, on one server, in one run. docs/performance.md explains the
 * results.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { z } from 'zod';
import { Keyring } from '../src/contract/encryption.js';
import { startTemporal } from '../src/sandbox/temporal.js';
import { dataConverterOf } from '../src/service/payloads.js';
import { readOptions } from './options.js';
import { pictureOf } from './picture.js';
import { Results, shown } from './report.js';
import type { Row } from './rows.js';
import { encryptionKeys, type SideName, type Surroundings, startSide } from './sides.js';
import { Trial } from './trial.js';

const options = readOptions();
const say = (line: string) => process.stderr.write(`${line}\n`);
/** Functions that stop what was started. The last function runs first. */
const running: (() => unknown)[] = [];
const close = async () => {
  for (let end = running.pop(); end; end = running.pop()) await end();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close().then(() => process.exit(130)));

const directory = mkdtempSync(join(tmpdir(), 'relay-bench-'));
const results = new Results(options.before ? 'before' : 'bare');
let failures = 0;
try {
  await measure();
} finally {
  await close();
}
if (failures === 0) rmSync(directory, { recursive: true, force: true });
else say(`${failures} measurements failed; the logs are in ${directory}`);
if (options.picture) writeFileSync(options.picture, pictureOf(results.summary()));
process.stdout.write(`${results.table()}\n`);
process.exit(failures === 0 ? 0 : 1);

async function measure(): Promise<void> {
  const platform = await startPlatform();
  const engine = options.temporal ? { address: options.temporal, pids: [] } : await startEngine();
  engine.pids.push(...options['engine-pids']);
  const connection = await Connection.connect({ address: engine.address });
  running.push(() => connection.close());
  const dataConverter = dataConverterOf(new Keyring(encryptionKeys));
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const about = {
    at: new Date().toISOString(),
    node: process.version,
    processors: `${cpus().length} × ${cpus()[0]?.model}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    temporalServer: `${serverVersion}${options.temporal ? '' : ' (dev server, SQLite)'}`,
    store: options['database-url'] ? 'PostgreSQL' : 'PGlite',
    ...options,
    only: options.only.map(({ name }) => name),
    'database-url': undefined, // may contain a password
  };
  const surroundings: Surroundings = {
    ...platform,
    directory,
    temporalAddress: engine.address,
    connection,
    bareBundle: await bundleBare(),
    databaseUrl: options['database-url'],
    before: options.before,
    separate: options.processes === 'separate',
  };

  // Creates the database, the company and the rule. Each measured process starts with a copy, so no measurement includes this.
  for (const name of ['relay', ...(options.before ? (['before'] as const) : [])] as const) {
    const { taskQueue, stop } = await startSide(name, surroundings);
    await stop();
    if (existsSync(join(directory, taskQueue))) renameSync(join(directory, taskQueue), join(directory, name));
  }
  for (let round = 1; round <= options.rounds; round++)
    for (const row of options.only.filter(({ once }) => round === 1 || !once)) {
      const peer = row.besideClear ? 'clear' : row.besideLists ? 'lists' : options.before ? 'before' : 'bare';
      const order: SideName[] = round % 2 === 1 ? ['relay', peer] : [peer, 'relay'];
      for (const name of order.filter((name) => name === 'relay' || !row.relayOnly)) {
        try {
          await measureOne(row, name);
        } catch (error) {
          failures += 1;
          say(`${row.name}, ${name}: ${error instanceof Error ? error.stack : String(error)}`);
        }
      }
      if (options.json) writeFileSync(options.json, `${JSON.stringify({ about, results: results.summary() }, undefined, 2)}\n`);
    }

  async function measureOne(row: Row, name: SideName): Promise<void> {
    if (row.besideClear && !surroundings.databaseUrl) throw new Error('this row needs --database-url');
    const at = row.besideClear ? { ...surroundings, separate: true } : surroundings;
    const side = await startSide(name, at, row.besideLists);
    running.push(() => side.stop());
    const trial = new Trial(
      side,
      new Client({ connection, namespace: side.taskQueue, dataConverter }),
      platform.platformUrl,
      engine.pids,
      options.clients,
      row.besideLists === true && name === 'relay',
    );
    try {
      const metrics = await row.measure(trial, options);
      for (const metric of metrics) results.add(row, name === 'relay' ? 'relay' : 'peer', metric);
      say(`${row.name}, ${name}: ${metrics.map((one) => `${one.name} ${shown(one.value)} ${one.unit}`.trim()).join(', ')}`);
    } finally {
      await trial.end();
    }
  }
}

async function startPlatform(): Promise<{ platformUrl: string; smtpUrl: string }> {
  const child = fork(fileURLToPath(new URL('./platform.js', import.meta.url)));
  running.push(() => child.kill());
  const [message] = await once(child, 'message');
  return z.object({ platformUrl: z.string(), smtpUrl: z.string() }).parse(message);
}

/** Starts Temporal's dev server, as `npm start` does. */
async function startEngine(): Promise<{ address: string; pids: number[] }> {
  const server = await startTemporal({ dataDir: directory, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
  running.push(() => server.stop());
  const { pid } = z.object({ pid: z.number() }).parse(JSON.parse(readFileSync(join(directory, 'temporal.pid'), 'utf8')));
  return { address: server.address, pids: [pid] };
}

async function bundleBare(): Promise<string> {
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: say, error: say };
  const workflowsPath = fileURLToPath(new URL('./bare/workflows.js', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const path = join(directory, 'bare-workflows.js');
  writeFileSync(path, code);
  return path;
}
