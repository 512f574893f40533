/** How a Java class reads timestamp patterns: which letters there are, and what each prints. */
import type { Moment } from './moment.js';

/** One letter of the pattern language: how often it may stand in a row, and what a row of `width` prints. */
export interface Letter {
  allows(width: number): boolean;
  print(t: Moment, width: number): string;
}

/** One of the two readings that Java has for a pattern. */
export interface Dialect {
  name: 'SimpleDateFormat' | 'DateTimeFormatter';
  /** Splits a pattern into quoted text, rows of one letter, and single other characters. */
  token: RegExp;
  letters: Record<string, Letter>;
  /**
   * Whether `p` pads, `{ } #` are reserved, and `[ ]` enclose an optional section (always printed: an instant has every field).
   */
  extended: boolean;
  /** The instant by this reading's calendar and time zone rules. */
  at(epochMillis: number, zone: string): Moment;
}
