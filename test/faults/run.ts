/**
 * `npm run test:faults -- [--chains 10000] [--per-second 4] [--fault-seconds 20] [--seed N] [--only part of a fault's name]
 * [--dev-server]`: sends chains of random shapes while faults strike, and then checks every promise of the relay.
 * Needs PostgreSQL, root for the full disk, libfaketime for the clocks, and Go for the full Temporal server. Exits with 1 if a
 * promise was broken.
 */

import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { buildEarlier } from '../end-to-end/earlier.js';
import { faultsOf } from './faults.js';
import { storm } from './storm.js';
import { startWorld } from './world.js';

/** Finds the oldest commit whose worker can use today's database. */
const log = ['log', '-1', '--format=%H', '--', 'src/store/migrations.ts'];
const earlier = execFileSync('git', log, { encoding: 'utf8' }).trim();

const { values } = parseArgs({
  options: {
    chains: { type: 'string', default: '10000' },
    'per-second': { type: 'string', default: '4' },
    'fault-seconds': { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    'dev-server': { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
say(`seed ${seed}`);
const world = await startWorld({ fullServer: !values['dev-server'], say });
const older = buildEarlier(earlier);
const wrong = await storm({
  world,
  chains: Number(values.chains),
  perSecond: Number(values['per-second']),
  seed,
  faults: faultsOf(world, older.dist).filter(({ name }) => name.includes(values.only)),
  faultSeconds: Number(values['fault-seconds']),
  say,
}).finally(() => {
  older.remove();
  return world.close();
});
for (const line of wrong.slice(0, 100)) say(line);
process.exit(wrong.length > 0 ? 1 : 0);
