/** The options of `npm run bench`. Each option takes a value: `--rounds 1`. */

import { parseArgs } from 'node:util';
import { z } from 'zod';
import { rows } from './rows.js';

const whole = (standard: number, least = 1) => z.coerce.number().int().min(least).default(standard);

const schema = z.object({
  /** Prefixes of row names, separated by commas. */
  only: z
    .string()
    .default('')
    .transform((only) => rows.filter(({ name }) => only.split(',').some((beginning) => name.startsWith(beginning))))
    .refine((chosen) => chosen.length > 0, `must begin the name of a row: ${rows.map(({ name }) => name).join(', ')}`),
  /** In every second round, the bare side is measured first. */
  rounds: whole(3),
  /** Chains in a burst, and the number of senders that POST them. */
  chains: whole(400),
  clients: whole(20),
  /** Chains that are all due within one second. */
  due: whole(1500),
  /** The largest number of chains that wait for a delay. The steps are 10 chains, then 1/30, 1/10, 1/3 and all of this number. */
  open: whole(10_000, 1000),
  /** Calls that never get an answer. */
  hanging: whole(450),
  /** For the row `console`: the number of different reasons of held chains. */
  causes: whole(500),
  /** Resets of waiting chains. */
  resets: whole(1000),
  /** Another built checkout of the relay, which replaces the bare side to show the cost of a change. */
  before: z.string().optional(),
  /** The results file. */
  json: z.string().optional(),
  /** The picture of the row `open`, an SVG file. */
  picture: z.string().optional(),
  /** The address of a running Temporal server; each measured side gets its own namespace there. */
  temporal: z.string().optional(),
  /**
   * The ids of the processes of that server and of PostgreSQL on this machine. The bench adds their CPU and memory, with all
   * their children, to the engine.
   */
  'engine-pids': z
    .string()
    .default('')
    .transform((pids) => pids.split(',').filter(Boolean).map(Number)),
  /** A PostgreSQL URL for the relay, instead of PGlite. */
  'database-url': z.string().optional(),
  /** `separate`: the API and the worker are two processes, on both sides. */
  processes: z.enum(['together', 'separate']).default('together'),
});
export type Options = z.infer<typeof schema>;

/** Exits when the options are invalid. */
export function readOptions(): Options {
  try {
    const options = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, { type: 'string' } as const]));
    return schema
      .refine(
        ({ processes, 'database-url': url }) => processes === 'together' || url,
        '--processes separate needs --database-url',
      )
      .refine(({ processes, before }) => processes === 'together' || !before, '--before is measured with --processes together')
      .parse(parseArgs({ options }).values);
  } catch (error) {
    process.stderr.write(`${error instanceof z.ZodError ? z.prettifyError(error) : String(error)}\nSee docs/performance.md.\n`);
    process.exit(2);
  }
}
