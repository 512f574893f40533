/**
 * The webhooks of the demo platform. An event changes the status of an assignment, and sends the body of its webhook.
 * As on the real platform, values are pasted unchanged, so a quotation mark in a value breaks the JSON.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import setField from '../../../examples/set-field.json' with { type: 'json' };
import widenThenAlert from '../../../examples/widen-then-alert.json' with { type: 'json' };
import { variablePattern } from '../../chain/text.js';
import type { Assignment, Delivery, PlatformState, Webhook } from './state.js';
import { firstAssignments } from './world.js';

/** The names of the events are also the labels of their buttons. The value is the new status of the assignment. */
export const events = {
  create: 'draft',
  send: 'sent',
  accept: 'accepted',
  'check in': 'in progress',
  complete: 'completed',
  cancel: 'cancelled',
};
export type PlatformEvent = keyof typeof events;

/** A body has this text instead of the token, so that the page does not show the token. */
const tokenMark = '<RELAY_ACCESS_TOKEN>';
const [action] = setField;
const checkIn = [{ ...action, externalSystemTicketId: '${custom_field_ticket}', cfValue: '${checked_in_on}' }];
const firstBodies: { [Event in PlatformEvent]?: string } = {
  create: JSON.stringify(widenThenAlert, undefined, 2).replaceAll('1001', '${assignment_id}'),
  'check in': JSON.stringify(checkIn, undefined, 2),
};

export const webhookOf = ({ webhooks, rule }: PlatformState, event: PlatformEvent): Webhook =>
  webhooks.get(event) ?? { url: rule?.url ?? '', body: firstBodies[event] ?? '' };

/** An address for events takes no list of actions. So a body that nobody edited becomes empty: then the event itself is sent. */
export function savedWebhook(state: PlatformState, event: PlatformEvent, { url, body }: Webhook): Webhook {
  const isUnchanged = body.replaceAll('\r', '') === webhookOf(state, event).body;
  return { url, body: isUnchanged && url.includes('/events/') ? '' : body };
}

export class Webhooks {
  waits = { stepMs: 10_000, retryMs: 5_000 };
  stepsLeft = 0; // the number of steps until the played day ends
  #day?: NodeJS.Timeout;
  readonly #closing = new AbortController();

  constructor(private readonly state: PlatformState) {}

  /** Changes the assignment, or creates it. Does not wait for the answer to the webhook. */
  fire(event: PlatformEvent, change: { id: string } & Partial<Assignment>): void {
    const worker = event === 'accept' ? { worker: workerFor(this.state.assignments.get(change.id)) } : {};
    const time = event === 'check in' ? { checkedInOn: new Date().toISOString() } : {};
    void this.#deliver(event, this.state.change({ ...change, ...worker, ...time, status: events[event] }));
  }

  /** Plays a day of the platform in ten minutes: 60 steps. */
  play(): void {
    this.stop();
    this.stepsLeft = 60;
    this.step();
    this.#day = setInterval(() => this.step(), this.waits.stepMs).unref();
  }

  stop(): void {
    clearInterval(this.#day);
    this.stepsLeft = 0;
  }

  /** In a step, workers accept, check in or complete a third of the sent assignments. Each sixth step creates an assignment. */
  step(chance = Math.random): void {
    const { assignments } = this.state;
    for (const { id, status } of [...assignments.values()]) {
      const next = nextEvents[status];
      if (next && chance() < 0.3) this.fire(next, { id });
    }
    this.stepsLeft -= 1;
    if (this.stepsLeft <= 0) this.stop();
    if (this.stepsLeft % 6 !== 5) return;
    const id = String(Math.max(2000, ...[...assignments.keys()].map(Number).filter(Number.isFinite)) + 1);
    this.fire('create', { ...firstAssignments[Number(id) % firstAssignments.length], id });
  }

  close(): void {
    this.stop();
    this.#closing.abort();
  }

  /** Sends the body. After an answer that is not 2xx, sends the body once more. */
  async #deliver(event: PlatformEvent, assignment: Assignment): Promise<void> {
    const { rule } = this.state;
    const { url, body: template } = webhookOf(this.state, event);
    const isEmpty = template.trim() === '';
    if (url === '' || (isEmpty && url === rule?.url)) return;
    const values = valuesOf(assignment);
    const pasted = template.replaceAll(variablePattern, (written, name: string) => values[name] ?? written);
    const { sends: _, ...facts } = assignment;
    const body = isEmpty ? JSON.stringify({ event, assignment: facts }) : pasted;
    const sent = rule?.url === url ? body.replaceAll(tokenMark, rule.token) : body;
    const delivery: Delivery = { at: new Date().toISOString(), event, assignment: assignment.id, url, body, answers: [] };
    const key = randomUUID();
    for (const last of [false, true]) {
      this.state.put('deliveries', key, delivery);
      const answer = await post(url, sent, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      delivery.answers.push(answer);
      this.state.put('deliveries', key, delivery);
      if (last || /^2/.test(answer)) return;
      await sleep(this.waits.retryMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
    }
  }
}

const nextEvents: Record<string, PlatformEvent> = { sent: 'accept', accepted: 'check in', 'in progress': 'complete' };

/** The nearest worker of the last send that reached somebody. */
const workerFor = (assignment?: Assignment) =>
  assignment?.sends.findLast(({ workers }) => workers.length > 0)?.workers[0]?.name ?? 'Ada Lund';

/** Returns the values for the variables of src/chain/variables.ts. A value that does not exist yet is empty. */
function valuesOf({ id, ownerEmail, worker, location, checkedInOn = '', customFields }: Assignment): Record<string, string> {
  const custom = Object.entries(customFields).map(([name, value]) => [`custom_field_${name}`, value]);
  return {
    assignment_id: id,
    owner_email: ownerEmail,
    checked_in_on: checkedInOn,
    resource_email: worker ? `${worker.toLowerCase().replaceAll(' ', '.')}@workers.example` : '',
    resource_state: worker ? location.state : '',
    ...Object.fromEntries(custom),
  };
}

/** @returns the status and the start of the answer, or the reason why there is no answer */
async function post(url: string, body: string, closing: AbortSignal): Promise<string> {
  try {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(10_000)]);
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    return `${answer.status} ${await answer.text()}`.slice(0, 200);
  } catch (error) {
    return `no answer: ${error instanceof Error ? (error.cause ?? error) : error}`;
  }
}
