/** The options of `npm run bench`, each with a value behind it: `--rounds 1`. */

import { parseArgs } from 'node:util';
import { z } from 'zod';
import { rows } from './rows.js';

const whole = (standard: number, least = 1) => z.coerce.number().int().min(least).default(standard);

const schema = z.object({
  /** Beginnings of the names of rows, with commas in between. */
  only: z
    .string()
    .default('')
    .transform((only) => rows.filter(({ name }) => only.split(',').some((beginning) => name.startsWith(beginning))))
    .refine((chosen) => chosen.length > 0, `begins none of ${rows.map(({ name }) => name).join(', ')}`),
  /** In every second one the bare side goes first. */
  rounds: whole(3),
  /** Chains of a burst, and how many senders POST them. */
  chains: whole(400),
  clients: whole(20),
  /** Chains that are all due in one second. */
  due: whole(1500),
  /** Chains that wait for a delay, in steps of three from a thirtieth of it. */
  open: whole(10_000, 1000),
  /** Calls that get no answer. */
  hanging: whole(450),
  /** Reasons for which chains are held, of the row `console`. */
  causes: whole(500),
  /** Resets of chains that wait. */
  resets: whole(1000),
  /** The file for the results. */
  json: z.string().optional(),
  /** The file for the picture of the row `open`, an SVG. */
  picture: z.string().optional(),
  /** A Temporal server that runs already; its namespace `default` is used. */
  temporal: z.string().optional(),
  /** Processes of that server on this machine, whose CPU and memory count with all that they start. */
  'engine-pids': z
    .string()
    .default('')
    .transform((pids) => pids.split(',').filter(Boolean).map(Number)),
  /** PostgreSQL for the relay, in place of PGlite. */
  'database-url': z.string().optional(),
  /** `separate`: the API and the worker are processes of their own, on both sides. */
  processes: z.enum(['together', 'separate']).default('together'),
});
export type Options = z.infer<typeof schema>;

/** Ends the process where they make no sense. */
export function readOptions(): Options {
  try {
    const options = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, { type: 'string' } as const]));
    return schema
      .refine(
        ({ processes, 'database-url': url }) => processes === 'together' || url,
        '--processes separate needs --database-url',
      )
      .parse(parseArgs({ options }).values);
  } catch (error) {
    process.stderr.write(`${error instanceof z.ZodError ? z.prettifyError(error) : String(error)}\nSee docs/performance.md.\n`);
    process.exit(2);
  }
}
