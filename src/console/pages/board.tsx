/** The figures of today, the last 24 hours, and the steps that are due next. */

import type { ChainCounts, ChainList } from '../../contract/chain-resource.js';
import type { CompanyHealth } from '../../contract/health.js';
import { pageOf, path, query } from '../addresses.js';
import { seldom, useResource } from '../resource.js';
import { Bars } from '../rule/health.js';
import { useCompany } from '../session.js';
import { deedOf } from '../story.js';
import { Known, Section, Time } from '../ui/index.js';
import { startOfDay, timeText } from '../when.js';
import { counted } from '../words.js';

/** Each figure leads to its list. @param refused - the refused requests that wait for a decision. */
export function Figures({ health, refused }: { health: CompanyHealth | undefined; refused: number }) {
  const { companyId, timeZone } = useCompany();
  const since = startOfDay(timeZone, Date.now());
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query({ since })).data.value;
  const open = useResource<ChainCounts>(path`/co/${companyId}/chains/counts`).data.value;
  const list = (status: string, since?: string) => pageOf.chains(companyId, { status, since });
  const hours = health?.hours.filter(({ at }) => at >= since);
  const [hour, nobody] = [hours?.at(-1), hours?.reduce((sum, { nobody }) => sum + nobody, 0)];
  const figures = [
    ['Running', open?.running, list('running'), 'busy'],
    ['Completed today', counts?.completed, list('completed', since), 'good'],
    ['Nobody found today', nobody, list('completed', since), 'wait'],
    ['Failed today', counts?.failed, list('failed', since), 'bad'],
    ['Waiting for a decision', open?.['needs-attention'], list('needs-attention'), 'wait'],
    ['Refused', refused, pageOf.refused(companyId), 'wait'],
  ] as const;
  return (
    <>
      <ul class="plain figures">
        {figures.map(([name, count, href, tone]) => (
          <li key={name}>
            <a class="card" href={href}>
              <strong class={count ? `figure ${tone}` : 'figure'}>{count ?? '…'}</strong> {name}
            </a>
          </li>
        ))}
      </ul>
      <p class="soft small">
        {hour ? `${counted(hour.events, 'event')} in this hour.` : 'No event in this hour.'}
        {hour?.usual !== undefined && ` Usual for this hour: ${hour.usual}.`}
      </p>
    </>
  );
}

export function DayChart({ health: { hours } }: { health: CompanyHealth }) {
  const { timeZone } = useCompany();
  const wordsOf = ({ at, events, failed, nobody, usual }: CompanyHealth['hours'][number]) =>
    `${timeText(at, timeZone, Date.now()).slice(0, -3)}: ${counted(events, 'event')}, ${failed} failed, ${nobody} found nobody` +
    (usual === undefined ? '' : `, usual: ${usual}`);
  return (
    <Section title="The last 24 hours">
      {hours.every(({ events }) => events === 0) && <p class="soft">No event has arrived.</p>}
      <Bars
        name="Events by hour. Red: failed. Amber: nobody found."
        bars={hours.map((hour) => ({
          ...{ at: hour.at, size: hour.events, bad: hour.failed, wait: hour.nobody },
          words: wordsOf(hour),
        }))}
      />
    </Section>
  );
}

export function DueNext() {
  const { companyId } = useCompany();
  const open = useResource<ChainList>(path`/co/${companyId}/chains?steps=true&limit=50`, seldom);
  return (
    <Section title="Due next">
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
    </Section>
  );
}
