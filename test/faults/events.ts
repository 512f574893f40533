/**
 * Sends events to a rule while new versions of the rule are published. Checks that exactly one version runs each event, with all
 * of its actions, and that the answer names this version. An event that does not apply must run nothing.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Entry } from './ledger.js';
import type { World } from './world.js';

interface SentEvent {
  name: string;
  applies: boolean;
  /** The answer that arrived first. Absent until then. */
  answer?: { version: number; applies: boolean; chainId?: string };
}

/**
 * The targets of an event's effects. `number` is in the contents of the version that runs the event. If `number` is even, the
 * version has one action less.
 */
const targetsOf = (name: string, number: number) => [
  `${name}-send-v${number}`,
  `${name}-late-v${number}`,
  ...(number % 2 === 0 ? [] : [`${name}-field-v${number}`]),
];

function contents(number: number) {
  const [sent, late, field] = targetsOf('${name}', number);
  const ticket = { action: 'ticket_updateUDF', externalSystemTicketId: field, cfName: 'note', cfValue: '${event.note}' };
  return {
    when: 'event.count > 0',
    variables: { name: { path: 'name', missing: 'refuse' } },
    actions: [
      { action: 'platform_sendAssignment', platformAssignmentId: sent },
      ...(field === undefined ? [] : [ticket]),
      {
        action: 'platform_sendAssignment',
        platformAssignmentId: late,
        delayInSeconds: '3',
        if: 'assignment.status == "draft" && event.count > 0',
      },
    ],
  };
}

export async function startEvents(world: World, perSecond: number, random: () => number) {
  const { ask, urls } = world;
  const made = await ask('POST', '/admin/companies/faults/rules', { name: 'events', onFailure: 'hold' });
  const { relayId, relayAccessToken } = made.body;
  const rule = `/admin/companies/faults/rules/${relayId}`;
  /** Each published version, with the number in its contents. */
  const numbers = new Map<number, number>();
  const sent: SentEvent[] = [];
  const wrong: string[] = [];
  let number = 0;
  let isOn = true;

  await publish();
  const publishing = every(15_000, publish);
  const sending: Promise<void>[] = [];
  const sender = every(1000 / perSecond, async () => {
    const one: SentEvent = { name: `e${sent.length}`, applies: random() < 0.9 };
    sent.push(one);
    sending.push(send(one));
  });
  return { stop, check };

  async function every(milliseconds: number, work: () => Promise<void>): Promise<void> {
    for (let next = Date.now() + milliseconds; isOn; next += milliseconds) {
      while (isOn && Date.now() < next) await sleep(Math.min(500, Math.max(1, next - Date.now())));
      if (isOn) await work();
    }
  }

  async function publish(): Promise<void> {
    number += 1;
    for (;;) {
      const { body: draft } = await ask('GET', `${rule}/draft`);
      const saved = await ask('PUT', `${rule}/draft`, { revision: draft.revision, contents: contents(number) });
      if (saved.status !== 200) continue; // The answer to an earlier try was lost.
      const { status, body } = await ask('POST', `${rule}/publish`, { revision: saved.body.revision });
      if (status === 409) continue;
      if (body.version === undefined) wrong.push(`publishing was answered ${status}: ${JSON.stringify(body)}`);
      else numbers.set(body.version, number);
      return;
    }
  }

  async function send(one: SentEvent): Promise<void> {
    const body = JSON.stringify({ name: one.name, count: one.applies ? 1 : 0, note: 'a "quoted" ${note}' });
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': one.name,
      authorization: `Bearer ${relayAccessToken}`,
    };
    for (let wait = 250, place = sent.length; ; wait = Math.min(wait * 2, 15_000), place += 1) {
      try {
        const url = `${place % 2 === 0 ? urls.api1 : urls.api2}/co/faults/events/${relayId}`;
        const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) });
        const text = await answer.text();
        if (answer.status < 500 && answer.status !== 429) {
          if (answer.status !== 202 && answer.status !== 200)
            wrong.push(`${one.name} was answered ${answer.status}: ${text.slice(0, 300)}`);
          else noteAnswer(one, JSON.parse(text));
          return;
        }
      } catch {
        // The process was down or slow. It may have accepted the event, so the next try has the same idempotency key.
      }
      await sleep(wait + Math.random() * wait);
    }
  }

  function noteAnswer(one: SentEvent, answer: NonNullable<SentEvent['answer']>): void {
    const { version, applies, chainId } = answer;
    if (applies !== one.applies) wrong.push(`${one.name} was answered applies: ${applies}`);
    const before = one.answer;
    if (before && (before.chainId !== chainId || before.version !== version))
      wrong.push(`${one.name} was run by version ${before.version}, and its repetition by version ${version}`);
    one.answer ??= { version, applies, ...(chainId !== undefined && { chainId }) };
  }

  /** Ends the traffic. Sends some events again, and expects the same answers as at first. */
  async function stop(): Promise<void> {
    isOn = false;
    await Promise.all([publishing, sender]);
    await Promise.all(sending);
    await publish();
    for (const one of sent.filter(({ applies }) => applies).slice(0, 20)) await send(one);
  }

  /** Compares the effects with the versions that the answers name. */
  function check(entries: readonly Entry[]): string[] {
    const arrived = new Map<string, Set<string>>();
    for (const { target } of entries) {
      const [, name = ''] = /^(e\d+)-/.exec(target) ?? [];
      arrived.set(name, (arrived.get(name) ?? new Set()).add(target));
    }
    for (const { name, applies, answer } of sent) {
      const ran = numbers.get(answer?.version ?? 0);
      const wanted = applies && ran !== undefined ? targetsOf(name, ran).sort() : [];
      const seen = [...(arrived.get(name) ?? [])].sort();
      if (String(seen) !== String(wanted)) wrong.push(`${name} had the effects ${seen}, not ${wanted}`);
    }
    return wrong;
  }
}
