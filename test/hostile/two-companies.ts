/**
 * `npm run test:abuse [chains beside each abuse, 100] [milliseconds between them, 200] [part of an abuse's name]`: measures one
 * company's chains, alone and beside another company that exceeds each limit. Fails if a chain was refused or did not run.
 */

import { it } from 'node:test';
import { startStack } from '../end-to-end/stack.js';
import { twoCompanies } from './abuse.js';

const [chains, gap, only = ''] = process.argv.slice(2);
const [count, gapMs] = [Number(chains ?? 100), Number(gap ?? 200)];
const say = (line: string) => process.stdout.write(`${line}\n`);
const stack = await startStack({ rateLimitPerMinute: 600, uses: {} });
const both = await twoCompanies(stack, 500);
const median = (took: number[]) => took[Math.floor(took.length / 2)] ?? Number.NaN;
const nearlyAll = (took: number[]) => took[Math.ceil(took.length * 0.95) - 1] ?? Number.NaN;

// The code runs as a test, so that the hooks stop everything that was started.
it('the other company is served during each abuse', async () => {
  await both.chains(count, gapMs); // warm-up
  const alone = await both.chains(count, gapMs);
  const row = (name: string, took: number[], more = '') => {
    const figures = [median(took), nearlyAll(took)].map((ms) => `${ms.toFixed(0).padStart(6)} ms`);
    say(`${name.padEnd(40)} ${figures.join(' ')} ${(median(took) / median(alone)).toFixed(1).padStart(5)} × ${more}`);
  };
  say(`${count} chains of two actions, one each ${gapMs} ms: from POST to the last effect, median and 95th percentile`);
  row('alone', alone);
  for (const abuse of both.abuses.filter(({ name }) => name.includes(only))) {
    const { took, answers } = await both.beside(abuse, count, gapMs);
    row(abuse.name, took, JSON.stringify(answers));
  }
  row('alone again', await both.chains(count, gapMs));
  both.close();
});
