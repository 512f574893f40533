/** The log: JSON lines on standard output. Never a token, a password or a body. */

import { pino } from 'pino';

export type Log = pino.Logger;

export function createLog(level: string, destination?: pino.DestinationStream): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
}
