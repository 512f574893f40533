/** Notifies people about quiet rules, and sends the weekly digests. A worker calls `watch` once a minute. */

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { isWithin, silentSeconds, usualEvery } from '../chain/expectation.js';
import { isOn } from '../chain/pause.js';
import { offsetSeconds } from '../chain/timestamp/zone.js';
import type { QuietNotice } from '../contract/notices.js';
import type { WatchedRule } from '../store/quiet.js';
import type { Store } from '../store/store.js';
import { startOnce } from './start.js';

export interface WatchDeps {
  store: Pick<Store, 'quiet' | 'health' | 'pauses'>;
  client: Client;
  taskQueue: string;
  log: Logger;
}

/** A problem with one rule or company does not stop the other notices. @throws if the database does not answer */
export async function watch(deps: WatchDeps, now = Date.now()): Promise<void> {
  const { quiet } = deps.store;
  const outages = await quiet.outages();
  const each = async (what: object, work: () => Promise<void>) =>
    work().catch((err: unknown) =>
      deps.log.error(
        { err, ...what },
        'the relay could not check whether a rule still gets events, or could not send a weekly summary',
      ),
    );
  for (const rule of await quiet.watched()) {
    const { companyId, relayId } = rule;
    await each({ companyId, relayId }, () => watchRule(deps, rule, outages, now));
  }
  for (const { companyId, timeZone, digestedWeek } of await quiet.withDigest()) {
    const week = weekOf(timeZone, now);
    if (week.name !== digestedWeek) await each({ companyId }, () => sendDigest(deps, companyId, week, now));
  }
}

type Times = Awaited<ReturnType<Store['quiet']['outages']>>;

async function watchRule({ store, client, taskQueue }: WatchDeps, rule: WatchedRule, outages: Times, now: number): Promise<void> {
  const { companyId, relayId, enabled, expectEvery, expectWithin, timeZone, lastEvent, quietSince, updatedAt } = rule;
  const tell = (notice: Pick<QuietNotice, 'since' | 'silentSeconds'> & Partial<QuietNotice>, expectEvery: number) => {
    const about = { kind: 'quiet', companyId, relayId, at: new Date(now).toISOString(), expectEvery, expectWithin } as const;
    const id = `relay-notice:${companyId}:${relayId}:quiet:${notice.since}${notice.eventAt ? ':over' : ''}`;
    return startOnce(client, { ...about, ...notice }, taskQueue, id);
  };
  if (!enabled || expectEvery === undefined) {
    if (quietSince !== undefined) await store.quiet.setQuiet(companyId, relayId, undefined);
    return;
  }
  const hours = { timeZone, ...expectWithin };
  if (quietSince !== undefined) {
    if (lastEvent === undefined || lastEvent <= quietSince) return;
    const silent = silentSeconds(hours, Date.parse(quietSince), Date.parse(lastEvent));
    await tell({ since: quietSince, eventAt: lastEvent, silentSeconds: silent }, expectEvery);
    return void (await store.quiet.setQuiet(companyId, relayId, undefined));
  }
  const since = lastEvent !== undefined && lastEvent > updatedAt ? lastEvent : updatedAt;
  const silent = (excused: Times) => silentSeconds(hours, Date.parse(since), now, excused);
  if (silent(outages) < expectEvery || !isWithin(hours, now)) return;
  const pauses = (await store.pauses.since(companyId, since)).filter(({ what }) => what === 'all' || what === 'platform');
  const excused = [...outages, ...pauses];
  if (silent(excused) < expectEvery || excused.some((one) => Date.parse(one.since) <= now && isOn({ what: 'all', ...one }, now)))
    return;
  const usual = usualEvery(await store.health.eventMinutes(companyId, relayId), now);
  await tell({ since, lastEvent, silentSeconds: silent(excused), usualEvery: usual }, expectEvery);
  await store.quiet.setQuiet(companyId, relayId, lastEvent ?? since);
}

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** The week whose digest is due: the last whole week, from Monday to Monday. The digest is due on Monday at 7:00. */
export function weekOf(timeZone: string, now: number): { name: string; since: string; until: string } {
  const offset = offsetSeconds(timeZone, now) * 1000;
  const day = Math.floor((now + offset - 7 * hourMs) / dayMs);
  const monday = (day - ((day + 3) % 7)) * dayMs; // Day 0, 1970-01-01, was a Thursday.
  const at = (local: number) => new Date(local - offsetSeconds(timeZone, local - offset) * 1000).toISOString();
  return { name: new Date(monday).toISOString().slice(0, 10), since: at(monday - 7 * dayMs), until: at(monday) };
}

type Week = ReturnType<typeof weekOf>;

async function sendDigest({ store, client, taskQueue }: WatchDeps, companyId: string, week: Week, now: number): Promise<void> {
  const { name, since, until } = week;
  const { rules, refused, ...counts } = await store.health.company(companyId, since, until);
  const failing = rules.filter(({ failed }) => failed > 0).sort((one, other) => other.failed - one.failed);
  const notice = {
    kind: 'weekly' as const,
    ...{ companyId, at: new Date(now).toISOString(), since, until, refused, ...counts },
    quiet: rules.flatMap(({ quietSince, name }) => (quietSince === undefined ? [] : name)),
    rules: failing.slice(0, 10).map(({ relayId, name, chains, failed }) => ({ relayId, name, chains, failed })),
  };
  await startOnce(client, notice, taskQueue, `relay-notice:${companyId}:weekly:${name}`);
  await store.quiet.setDigested(companyId, name);
}
