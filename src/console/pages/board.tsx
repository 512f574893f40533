/** The figures of today, the last 24 hours, and the steps that are due next. */

import type { ChainCounts, ChainList } from '../../contract/chain-resource.js';
import type { CompanyHealth } from '../../contract/health.js';
import { pageOf, path, query } from '../addresses.js';
import { Known, Time } from '../parts.js';
import { type Resource, seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { deedOf } from '../story.js';
import { startOfDay, timeText } from '../when.js';
import { counted } from '../words.js';

interface FiguresProps {
  health: CompanyHealth | undefined;
  /** The refused requests that wait for a decision. */
  refused: number;
}

/** Each figure leads to its list. */
export function Figures({ health, refused }: FiguresProps) {
  const { companyId, timeZone } = useCompany();
  const since = startOfDay(timeZone, Date.now());
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query({ since })).data.value;
  const open = useResource<ChainCounts>(path`/co/${companyId}/chains/counts`).data.value;
  const ofDay = (status: string) => pageOf.chains(companyId, { status, since });
  const hours = health?.hours.filter(({ at }) => at >= since);
  const [hour, nobody] = [hours?.at(-1), hours?.reduce((sum, { nobody }) => sum + nobody, 0)];
  const figures = [
    ['Running', open?.running, pageOf.chains(companyId, { status: 'running' }), ''],
    ['Completed today', counts?.completed, ofDay('completed'), ''],
    ['Nobody found today', nobody, ofDay('completed'), 'wait'],
    ['Failed today', counts?.failed, ofDay('failed'), 'bad'],
    ['Waiting for a decision', open?.['needs-attention'], pageOf.chains(companyId, { status: 'needs-attention' }), 'wait'],
    ['Refused', refused, pageOf.refused(companyId), 'wait'],
  ] as const;
  return (
    <>
      <ul class="figures">
        {figures.map(([name, count, href, tone]) => (
          <li key={name} class={count ? tone : ''}>
            <a href={href}>
              <strong>{count ?? '…'}</strong> {name}
            </a>
          </li>
        ))}
      </ul>
      {hour && (
        <p class="soft small">
          {counted(hour.events, 'event')} in this hour
          {hour.usual !== undefined && `. Usual for this hour: ${hour.usual}`}.
        </p>
      )}
    </>
  );
}

const [barWidth, chartHeight] = [10, 60];

/** A bar for each hour: failed below, nobody found in the middle, the other chains above. */
export function DayChart({ health: { hours } }: { health: CompanyHealth }) {
  const { timeZone } = useCompany();
  const most = Math.max(1, ...hours.map(({ chains, usual = 0 }) => Math.max(chains, usual)));
  const tall = (count: number) => (count / most) * chartHeight;
  const clock = (at: string) => timeText(at, timeZone, Date.now()).slice(-8, -3);
  const sum = hours.reduce((sum, { chains }) => sum + chains, 0);
  const [first, last] = [hours[0], hours.at(-1)];
  return (
    <section class="card" aria-labelledby="day">
      <h2 id="day">The last 24 hours</h2>
      <svg class="chart" viewBox={`0 0 ${hours.length * barWidth} ${chartHeight}`} preserveAspectRatio="none" role="img">
        <title>
          {counted(sum, 'chain')}, at most {most} in an hour
        </title>
        {hours.map(({ at, chains, failed, nobody, usual }, place) => {
          const parts = [
            ['bad', failed],
            ['wait', nobody],
            ['good', Math.max(0, chains - failed - nobody)],
          ] as const;
          let below = 0;
          return (
            <g key={at}>
              {parts.map(([tone, count]) => {
                below += tall(count);
                return (
                  <rect
                    key={tone}
                    class={tone}
                    x={place * barWidth + 1}
                    y={chartHeight - below}
                    width={barWidth - 2}
                    height={tall(count)}
                  />
                );
              })}
              {usual !== undefined && (
                <rect class="usual" x={place * barWidth} y={chartHeight - tall(usual) - 1} width={barWidth} height="1" />
              )}
            </g>
          );
        })}
      </svg>
      <p class="row spread soft small" aria-hidden="true">
        <span>{first && clock(first.at)}</span>
        <span>line: usual</span>
        <span>{last && clock(last.at)}</span>
      </p>
    </section>
  );
}

export function DueNext() {
  const { companyId } = useCompany();
  const open: Resource<ChainList> = useResource(path`/co/${companyId}/chains?status=running&steps=true&limit=50`, seldom);
  return (
    <section class="card" aria-labelledby="due">
      <h2 id="due">Due next</h2>
      <Known of={open}>
        {({ items }) => {
          const due = items.flatMap(({ next, ...chain }) => (next ? [{ ...chain, next }] : []));
          due.sort((one, other) => (one.next.at < other.next.at ? -1 : 1));
          if (due.length === 0) return <p class="soft">No step is planned.</p>;
          return (
            <ul class="plain">
              {due.slice(0, 5).map(({ chainId, assignmentIds: [assignmentId], next }) => (
                <li key={chainId}>
                  <Time at={next.at} />{' '}
                  <a href={pageOf.chain(companyId, chainId)}>
                    {deedOf(next)}
                    {assignmentId && `, assignment ${assignmentId}`}
                  </a>
                </li>
              ))}
            </ul>
          );
        }}
      </Known>
    </section>
  );
}
