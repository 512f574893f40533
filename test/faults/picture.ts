/** Draws curves over time as SVG. */

export type Curve = [x: number, y: number][];

const [width, height] = [460, 300];
const frame = { left: 60, right: 100, top: 40, bottom: 45 };
const colours = ['#0a6ebd', '#58a7e0', '#c2571a', '#e8a06d', '#3b7d3b', '#7a4fa3'];

/** @param titles - the panels by title, each with its curves by name. @param columns - the number of panels in a row */
export function panels(titles: Record<string, Record<string, Curve>>, unit: string, columns = 2): string {
  const drawn = Object.entries(titles).map(([title, curves], index) => {
    const at = `${(index % columns) * width} ${Math.floor(index / columns) * height}`;
    return `<g transform="translate(${at})">${panel(title, curves, unit)}</g>`;
  });
  const style = 'text { font: 12px sans-serif; fill: #222 } .axis { stroke: #999; fill: none } .title { font-weight: bold }';
  const size = `${Math.min(columns, drawn.length) * width} ${Math.ceil(drawn.length / columns) * height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}"><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
</svg>
`;
}

function panel(title: string, curves: Record<string, Curve>, unit: string): string {
  const points = Object.values(curves).flat();
  const most = (axis: 0 | 1) => Math.max(1, ...points.map((point) => point[axis]));
  const [lastX, highest] = [most(0), most(1) * 1.1];
  const x = (value: number) => frame.left + ((width - frame.left - frame.right) * value) / lastX;
  const y = (value: number) => height - frame.bottom - ((height - frame.top - frame.bottom) * value) / highest;
  const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const text = (left: number, top: number, words: string, more = '') =>
    `<text x="${left}" y="${top}" ${more}>${escaped(words)}</text>`;
  const shown = (value: number) => Number(value.toPrecision(2)).toString();
  const parts = [0, 0.5, 1];
  return [
    text(frame.left, 20, title, 'class="title"'),
    ...parts.map((part) => text(frame.left - 8, y(part * highest) + 4, shown(part * highest), 'text-anchor="end"')),
    ...parts.map((part) => text(x(part * lastX), height - frame.bottom + 18, shown(part * lastX), 'text-anchor="middle"')),
    text(x(lastX / 2), height - 8, unit, 'text-anchor="middle"'),
    `<path class="axis" d="M${frame.left} ${frame.top}V${y(0)}H${x(lastX)}"/>`,
    ...Object.entries(curves).map(([name, curve], index) => {
      const path = curve.map((point) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`).join(' ');
      const stroke = colours[index % colours.length];
      const legend = text(width - frame.right + 10, frame.top + 16 * index, name, `style="fill: ${stroke}"`);
      return `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="1.5"/>${legend}`;
    }),
  ].join('');
}
