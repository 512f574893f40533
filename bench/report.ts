/** Prints the results as JSON and as a table. */

import type { Metric, Row } from './rows.js';

export class Results {
  readonly #measured = new Map<
    string,
    Omit<Metric, 'value'> & { row: string; what: string } & Record<'relay' | 'peer', number[]>
  >();

  /** @param peer - the side that the relay is compared with */
  constructor(private readonly peer: 'bare' | 'before') {}

  add({ name: row, what }: Row, side: 'relay' | 'peer', { value, ...metric }: Metric): void {
    const key = [row, metric.name, metric.unit].join('\n');
    const one = this.#measured.get(key) ?? { row, what, ...metric, relay: [], peer: [] };
    this.#measured.set(key, one);
    one[side].push(value);
  }

  /**
   * Returns the values of all rounds, and their medians. Also returns the ratio of the relay to its peer in each round, and the
   * median of these ratios.
   */
  summary() {
    return [...this.#measured.values()].map((one) => {
      const medians = { relay: median(one.relay), peer: median(one.peer) };
      const ratios = one.relay.flatMap((value, round) => (one.peer[round] ? value / one.peer[round] : [])).sort((a, b) => a - b);
      return { ...one, medians, ratio: median(ratios), ratios };
    });
  }

  /** A Markdown table, ready to paste. */
  table(): string {
    const head = ['', 'Unit', 'Relay', this.peer, `Relay / ${this.peer}`, 'from … to', 'Better is'];
    const lines: string[][] = [];
    let previous = '';
    for (const { row, what, name, unit, better, medians, ratio, ratios } of this.summary()) {
      if (row !== previous) lines.push([`**${row}**: ${what}`, '', '', '', '', '', '']);
      previous = row;
      const spread = `${shown(ratios[0] ?? Number.NaN)} … ${shown(ratios.at(-1) ?? Number.NaN)}`;
      lines.push([name, unit, shown(medians.relay), shown(medians.peer), shown(ratio), spread, better]);
    }
    const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)));
    const cells = (line: string[]) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
    return [cells(head), cells(widths.map((width) => '-'.repeat(width))), ...lines.map(cells)].join('\n');
  }
}

/** @returns NaN if there is no value. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** Rounds to three digits. */
export function shown(value: number): string {
  return Number.isFinite(value) ? `${Number(value.toPrecision(value >= 1000 ? 4 : 3))}` : '–';
}
