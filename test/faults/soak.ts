/**
 * `npm run test:soak -- [--minutes 60] [--per-second 3] [--seed N] [--picture f.svg] [--dev-server]`: sends chains at a steady
 * rate. Some of them are held, retried, delayed or cancelled. The command records each process's memory and file descriptors.
 * Exits with 1 if a promise was broken. A person judges the picture.
 */

import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { residentMiB } from '../../bench/processes.js';
import { type Curve, panels } from './picture.js';
import { storm } from './storm.js';
import { type Name, names, startWorld } from './world.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'per-second': { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    picture: { type: 'string' },
    'dev-server': { type: 'boolean', default: false },
  },
});
const [minutes, perSecond] = [Number(values.minutes), Number(values['per-second'])];
const say = (line: string) => process.stdout.write(`${line}\n`);
const world = await startWorld({ fullServer: !values['dev-server'], say });
const began = Date.now();
const empty = () => Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Curve>;
const [memory, descriptors] = [empty(), empty()];

const openFiles = (pid: number) => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // The process has ended.
  }
};
const sample = () => {
  const at = (Date.now() - began) / 60_000;
  for (const name of names) {
    const pids = world.parts[name].pids();
    memory[name].push([at, residentMiB(pids)]);
    descriptors[name].push([at, pids.reduce((sum, pid) => sum + openFiles(pid), 0)]);
  }
  const some = (curves: Record<Name, Curve>, ...of: Name[]) => Object.fromEntries(of.map((name) => [name, curves[name]]));
  const ours = ['api1', 'api2', 'worker1', 'worker2'] as const;
  const titles = {
    'the relay: memory, MiB': some(memory, ...ours),
    'the relay: file descriptors': some(descriptors, ...ours),
    'beside it: memory, MiB': some(memory, 'temporal', 'postgresql'),
    'beside it: file descriptors': some(descriptors, 'temporal', 'postgresql'),
  };
  if (values.picture) writeFileSync(values.picture, panels(titles, 'minutes'));
};
const timer = setInterval(sample, 10_000);
const wrong = await storm({
  world,
  chains: minutes * 60 * perSecond,
  perSecond,
  seed: Number(values.seed),
  faults: [],
  faultSeconds: 0,
  say,
}).finally(() => {
  clearInterval(timer);
  return world.close();
});
const at = (curve: Curve, part: number) => curve[Math.floor((curve.length - 1) * part)]?.[1].toFixed(0).padStart(8);
say('                after a tenth   at half the time   in the end');
for (const [what, curves] of Object.entries({ MiB: memory, files: descriptors }))
  for (const name of names)
    say(`${name.padEnd(10)} ${what.padEnd(6)} ${[0.1, 0.5, 1].map((part) => at(curves[name], part)).join('       ')}`);
for (const line of wrong.slice(0, 100)) say(line);
process.exit(wrong.length > 0 ? 1 : 0);
