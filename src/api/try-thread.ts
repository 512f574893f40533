/** The worker thread of `POST …/try`: decrypts events, makes their actions with two versions, and compares these actions. */

import { parentPort, workerData } from 'node:worker_threads';
import { recipientsOf } from '../chain/chain.js';
import { cutShort } from '../chain/text.js';
import { Keyring } from '../contract/encryption.js';
import type { Contents, Tried, TriedOutcome } from '../contract/rule-contents.js';
import { parseEvent } from '../door/event.js';
import { compareOutcomes } from '../rules/compare.js';
import { assignmentOf, type Rendered, renderEvent } from '../rules/render.js';
import type { StoredRow } from '../store/database.js';
import { storedEvents } from '../store/events.js';
import { outside } from '../temporal/recipients.js';

export interface TryTask {
  relayId: string;
  contents: Contents;
  against: Contents | undefined; // the published version, if there is one
  domains: string[] | undefined; // the allowed domains of recipients
  keys: string | undefined; // the text of the keyring
  rows: StoredRow[]; // events as the database stores them
}

const mostMs = 15_000; // the thread stops after this time, and answers with the events that it has tried

/** The limits of the answer. */
const mostShown = 200;
const mostBytes = 1024 * 1024;
const longestText = 500;

const quiet: readonly TriedOutcome[] = ['same', 'not-applicable'];

function tryAll({ relayId, contents, against, domains, keys, rows }: TryTask): Tried {
  const until = performance.now() + mostMs;
  const keyring = keys === undefined ? undefined : new Keyring(keys);
  const tried: Tried = { tried: 0, counts: {}, problems: [], events: [] };
  let bytes = 0;
  for (const row of rows) {
    if (performance.now() > until) return { ...tried, stopped: true };
    const { eventId, receivedAt, body } = storedEvents.parse({ keyring }, row);
    const event = parseEvent(body);
    const render = (contents: Contents) => asAccepted(renderEvent(contents, relayId, event), domains);
    const compared = compareOutcomes(against && render(against), render(contents));
    tried.tried += 1;
    tried.counts[compared.outcome] = (tried.counts[compared.outcome] ?? 0) + 1;
    if (quiet.includes(compared.outcome) || tried.events.length >= mostShown || bytes > mostBytes) continue;
    const about = { eventId, receivedAt, assignmentId: assignmentOf(contents, event) };
    const shown = { ...about, ...compared, differences: compared.differences?.map(shortened) };
    bytes += JSON.stringify(shown).length;
    tried.events.push(shown);
  }
  return tried;
}

/** Shortens long texts to the part around the first difference. */
function shortened<Difference extends { before?: unknown; after?: unknown }>(difference: Difference): Difference {
  const { before, after } = difference;
  if (typeof before !== 'string' || typeof after !== 'string' || before.length + after.length < 2 * longestText)
    return difference;
  let from = 0;
  while (before[from] === after[from]) from += 1;
  const cut = (text: string) => cutShort((from > 100 ? '…' : '') + text.slice(Math.max(0, from - 100)), longestText);
  return { ...difference, before: cut(before), after: cut(after) };
}

/** Refuses recipients outside the allowed domains of the company, as the relay does. */
function asAccepted(rendered: Rendered, domains: string[] | undefined): Rendered {
  if (rendered.kind !== 'chain' || !domains) return rendered;
  const problems = rendered.actions.flatMap((action) => {
    const detail = outside(recipientsOf(action), domains);
    return detail === undefined ? [] : [{ pointer: `/actions/${action.index}/emails`, detail }];
  });
  return problems.length > 0 ? { kind: 'refused', problems } : rendered;
}

parentPort?.postMessage(tryAll(workerData));
