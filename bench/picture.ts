/** Draws the row `open` as SVG: how each measure changes with the number of waiting chains. */

import type { Results } from './report.js';

const width = 420;
const height = 230;
const frame = { left: 60, right: 15, top: 40, bottom: 45 };
const colours = { relay: '#0a6ebd', bare: '#c2571a' } as const;

type Point = readonly [open: number, value: number];
interface Curves {
  unit: string;
  relay: Point[];
  bare: Point[];
}

export function pictureOf(results: ReturnType<Results['summary']>): string {
  const panels = new Map<string, Curves>();
  for (const { row, name, unit, medians } of results) {
    const [, measure = '', open] = /^(.*), (\d+) open$/.exec(name) ?? [];
    if (row !== 'open' || open === undefined) continue;
    const curves = panels.get(measure) ?? { unit, relay: [], bare: [] };
    panels.set(measure, curves);
    for (const side of ['relay', 'bare'] as const) {
      const value = medians[side === 'bare' ? 'peer' : side];
      if (Number.isFinite(value)) curves[side].push([Number(open), value]);
    }
  }
  const drawn = [...panels].map(([measure, curves], index) => {
    const at = `translate(${(index % 2) * width} ${Math.floor(index / 2) * height})`;
    return `<g transform="${at}">${panel(measure, curves)}</g>`;
  });
  const size = [2 * width, Math.ceil(panels.size / 2) * height];
  const style = 'text { font: 12px sans-serif; fill: #222 } .axis { stroke: #999 } .title { font-weight: bold }';
  const title = '<title>Relay and bare Temporal by the number of chains that wait for a delay</title>';
  const background = '<rect width="100%" height="100%" fill="#fff"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}">${title}<style>${style}</style>${background}
${drawn.join('\n')}
</svg>
`;
}

/** The horizontal axis is logarithmic. The vertical axis starts at 0. */
function panel(measure: string, { unit, relay, bare }: Curves): string {
  const opens = relay.map(([open]) => open);
  const [least = 1, most = 10] = [Math.min(...opens), Math.max(...opens)];
  const highest = Math.max(...[...relay, ...bare].map(([, value]) => value)) * 1.1;
  const x = (open: number) => frame.left + ((width - frame.left - frame.right) * Math.log(open / least)) / Math.log(most / least);
  const y = (value: number) => height - frame.bottom - ((height - frame.top - frame.bottom) * value) / highest;
  const text = (left: number, top: number, words: string, more = '') => `<text x="${left}" y="${top}" ${more}>${words}</text>`;
  const curve = (side: 'relay' | 'bare', points: Point[]) => {
    const path = points.map(([open, value]) => `${x(open).toFixed(1)},${y(value).toFixed(1)}`);
    const dots = path.map((at) => `<circle cx="${at.replace(',', '" cy="')}" r="3" fill="${colours[side]}"/>`);
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colours[side]}" stroke-width="2"/>${dots.join('')}`;
  };
  const middle = 'text-anchor="middle"';
  return [
    text(frame.left, 20, `${measure}, ${unit}`, 'class="title"'),
    text(width - 105, 20, 'relay', `style="fill: ${colours.relay}"`),
    text(width - 60, 20, 'bare', `style="fill: ${colours.bare}"`),
    ...[0, 0.5, 1].map((part) => text(frame.left - 8, y(part * highest) + 4, shown(part * highest), 'text-anchor="end"')),
    ...opens.map((open) => text(x(open), height - frame.bottom + 18, `${open}`, middle)),
    text(width / 2, height - 8, 'chains that wait for a delay', middle),
    `<path class="axis" fill="none" d="M${frame.left} ${frame.top}V${y(0)}H${width - frame.right}"/>`,
    curve('relay', relay),
    curve('bare', bare),
  ].join('');
}

const shown = (value: number) => Number(value.toPrecision(2)).toString();
