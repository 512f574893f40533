/** What was measured, as JSON and as a table. */

import type { Metric, Row } from './rows.js';

export class Results {
  readonly #measured = new Map<
    string,
    Omit<Metric, 'value'> & { row: string; what: string } & Record<'relay' | 'bare', number[]>
  >();

  add({ name: row, what }: Row, side: 'relay' | 'bare', { value, ...metric }: Metric): void {
    const key = [row, metric.name, metric.unit].join('\n');
    const one = this.#measured.get(key) ?? { row, what, ...metric, relay: [], bare: [] };
    this.#measured.set(key, one);
    one[side].push(value);
  }

  /** The values of all rounds, their medians, and the relay's median as a multiple of the bare side's. */
  summary() {
    return [...this.#measured.values()].map((one) => {
      const medians = { relay: median(one.relay), bare: median(one.bare) };
      return { ...one, medians, ratio: medians.bare === 0 ? Number.NaN : medians.relay / medians.bare };
    });
  }

  /** Markdown, so that it can be pasted. */
  table(): string {
    const head = ['', 'Unit', 'Relay', 'Bare', 'Relay / bare', 'Better is'];
    const lines: string[][] = [];
    let previous = '';
    for (const { row, what, name, unit, better, medians, ratio } of this.summary()) {
      if (row !== previous) lines.push([`**${row}**: ${what}`, '', '', '', '', '']);
      previous = row;
      lines.push([name, unit, shown(medians.relay), shown(medians.bare), shown(ratio), better]);
    }
    const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)));
    const cells = (line: string[]) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
    return [cells(head), cells(widths.map((width) => '-'.repeat(width))), ...lines.map(cells)].join('\n');
  }
}

/** NaN where there is no value. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** Three digits. */
export function shown(value: number): string {
  return Number.isFinite(value) ? `${Number(value.toPrecision(value >= 1000 ? 4 : 3))}` : '–';
}
