/** Draws times to scale, but shortens a long time without open chains, because it would take most of the space. */

export interface Span {
  from: number; // Unix milliseconds
  to: number;
}

export interface Scale {
  /** The place of a time, from 0 to `width`. */
  place(time: number): number;
  /** The shortened times. `from` and `to` are places, and `ms` is the real length. */
  breaks: { from: number; to: number; ms: number }[];
}

export const width = 1000;
/** The width of each shortened time, as a share of the total width of all times with open chains. */
const breakShare = 0.08;
const shortestMs = 1_000;

/** @param open - the times in which a chain was, is or will be open. */
export function scaleOf(open: readonly Span[]): Scale {
  const spans: Span[] = [];
  for (const { from, to } of [...open].sort((one, other) => one.from - other.from)) {
    const last = spans.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else spans.push({ from, to: Math.max(from, to) });
  }
  const openMs = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const toScale = Math.max(shortestMs, openMs);
  const pieces = spans.flatMap((span, place) => {
    const next = spans[place + 1];
    const gap = next && { from: span.to, to: next.from };
    const isCut = gap && gap.to - gap.from > toScale;
    const weight = ({ from, to }: Span) => Math.max(to - from, toScale / 100);
    return [
      { ...span, weight: weight(span), isCut: false },
      ...(gap ? [{ ...gap, weight: isCut ? toScale * breakShare : weight(gap), isCut: isCut === true }] : []),
    ];
  });
  const whole = pieces.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  const placed = pieces.map((piece) => {
    const [start, size] = [(before / whole) * width, (piece.weight / whole) * width];
    before += piece.weight;
    return { ...piece, start, size };
  });
  return {
    place(time) {
      const piece = placed.find(({ to }) => time <= to) ?? placed.at(-1);
      if (!piece) return 0;
      const share = piece.to === piece.from ? 0 : (time - piece.from) / (piece.to - piece.from);
      return piece.start + Math.min(1, Math.max(0, share)) * piece.size;
    },
    breaks: placed.flatMap(({ isCut, start, size, from, to }) =>
      isCut ? [{ from: start, to: start + size, ms: to - from }] : [],
    ),
  };
}
