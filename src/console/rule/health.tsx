/** The health of a rule: its counts over time as charts, and whether it is quiet. */

import { useSignal } from '@preact/signals';
import { co, query, seldom, useCompany, useResource } from '../base.js';
import type { RuleHealth } from '../types.js';
import { Choice, FieldList, Known, Section, Silence } from '../ui/index.js';
import { counted, durationText, failureWords, timeText, withinText } from '../words.js';

const dayMs = 86_400_000;
const periods = { 'day-90': '90 days, by day', 'day-28': '28 days, by day', 'hour-7': '7 days, by hour', 'hour-1': '24 hours' };

export function Health({ relayId }: { relayId: string }) {
  const period = useSignal('day-28');
  const [by, days] = period.value.split('-');
  const health = useResource<RuleHealth>(co`/rules/${relayId}/health` + query({ by, days }), seldom);
  return (
    <Section title="Events over time">
      <Choice label="Period" of={period} options={Object.entries(periods)} />
      <Known of={health}>
        {({ buckets, causes, held, quietSince, lastEvent, expectEvery = 0 }) => {
          const sum = (field: 'events' | 'chains' | 'failed' | 'nobody') =>
            buckets.reduce((sum, bucket) => sum + bucket[field], 0);
          const results = { Failed: share(sum('failed'), sum('chains')), 'Nobody found': sum('nobody') };
          const facts = { Events: sum('events'), Chains: sum('chains'), ...results, 'Needs attention': held };
          const counts = buckets.map(({ at, events: size, failed: bad, nobody: wait }) => {
            const words = `${counted(size, 'event')}, failed: ${bad}, no technician found: ${wait}`;
            return { at, size, bad, wait, words };
          });
          const times = buckets.map(({ at, chains, p50 = 0, p95 = 0 }) => {
            const [half, nearly] = [withinText(p50), withinText(p95)];
            const most = chains >= 20 && nearly !== half ? `, and 95% of the chains took ${nearly} or less` : '';
            return { at, size: p50, bad: 0, words: half + most };
          });
          const causesText = causes.map(({ type, chains }) => `${failureWords(type)} (${counted(chains, 'chain')})`).join(', ');
          return (
            <>
              {quietSince && (
                <p class="note bad">
                  There has been <Silence last={lastEvent} />. An event is expected every {durationText(expectEvery)}.
                </p>
              )}
              <FieldList fields={Object.entries(facts)} />
              <Bars name="Blue: events. Red: failed. Yellow: no technician found." bars={counts} days={Number(days)} />
              <Bars name={`How long a chain usually takes, by ${by}.`} bars={times} days={Number(days)} />
              {causes.length > 0 && <p>Problems: {causesText}</p>}
            </>
          );
        }}
      </Known>
    </Section>
  );
}

/** For example `3 (1.2 %)`, without a line break. */
export const share = (part: number, whole: number): string =>
  whole === 0 ? String(part) : `${part}\u00a0(${Number(((100 * part) / whole).toFixed(1))}\u00a0%)`;

/** `wait` is drawn above `bad`. */
type Bar = { at: string; size: number; bad: number; wait?: number; words: string };

/** @param days - how many days before now the chart begins. By default, it begins with the first bar. */
export function Bars({ name, bars, days }: { name: string; bars: readonly Bar[]; days?: number }) {
  const { timeZone } = useCompany();
  const [top] = bars.toSorted((one, other) => other.size - one.size);
  if (!top?.size) return null;
  const most = top.size;
  const times = bars.map(({ at }) => Date.parse(at));
  const last = times.at(-1) ?? 0;
  const step = days && days > 7 ? dayMs : Math.min(dayMs, ...times.slice(1).map((time, place) => time - (times[place] ?? 0)));
  const first = days ? Math.min(times[0] ?? 0, last - days * dayMs + step) : (times[0] ?? 0);
  const isDaily = step === dayMs;
  const end = (time: number) =>
    timeText(new Date(time).toISOString(), timeZone, isDaily ? 0 : Date.now()).slice(0, isDaily ? -10 : -3);
  const width = Math.min(5, 100 / Math.round((last - first) / step + 1)); // a single bar must not fill the chart
  const dated = ({ at, words }: Pick<Bar, 'at' | 'words'>) => `${end(Date.parse(at))}, ${words}`;
  const label = bars.map(dated).join('; ');
  return (
    <figure>
      <figcaption class="soft small">{`${name} The highest bar is for ${end(Date.parse(top.at))}, with ${top.words}.`}</figcaption>
      <svg viewBox="0 0 100 20" width="100%" height="6rem" preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map(({ at, size, bad, wait = 0, words }, place) => {
          const x = width * Math.round(((times[place] ?? 0) - first) / step);
          const bar = (colour: string, count: number) => (
            <rect fill={`var(--${colour})`} x={x} width={width * 0.8} y={20 - (20 * count) / most} height={(20 * count) / most} />
          );
          return (
            <g key={at}>
              <title>{dated({ at, words })}</title>
              {bar('accent', size)}
              {bar('amber', bad + wait)}
              {bar('bad', bad)}
            </g>
          );
        })}
      </svg>
      <p class="row spread soft small" aria-hidden="true">
        <span>{end(first)}</span> <span>{end(last)}</span>
      </p>
    </figure>
  );
}
