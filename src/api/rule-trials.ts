/** `POST …/try`: tries contents on stored events, in a worker thread, so that other requests do not wait. Stores nothing. */

import { Worker } from 'node:worker_threads';
import { Problem } from '../contract/problem.js';
import { mostTried, type Tried, tryRequest, tryResponse } from '../contract/rule-contents.js';
import { checkContents } from '../rules/contents.js';
import { readTexts } from './input.js';
import { found, foundRule } from './problems.js';
import { type ApiOptions, ofRule, type Route, route } from './route.js';
import type { TryTask } from './try-thread.js';

const endedMs = 20_000; // if a thread has not stopped after this time, the relay ends the thread
const mostMemoryMb = 512;
const mostWaiting = 4;
const mostOfCompany = 2; // a low limit, so that the tries of one company do not block the other companies

export function ruleTrialRoutes({ store, keyring }: Pick<ApiOptions, 'store' | 'keyring'>): Route[] {
  const turns = new Turns();
  return [
    route.author(`POST ${ofRule}/try`, 'tryRule', 'Try contents on the last events of a rule', {
      description:
        'For each event, compares the actions of the draft (or of a version) with the actions of the published version. Nothing is ' +
        'sent or stored. If the contents have mistakes, no event is tried.',
      use: 'lists',
      rawBody: tryRequest,
      answers: { 200: ['The number of events for each outcome, and the first events with a difference.', tryResponse] },
      problems: ['invalid-body', 'rate-limited'],
      async handle(c, { companyId, relayId }) {
        const asked = await readTexts(c, tryRequest);
        const { company, rules } = found(await store.settings.of(companyId), `company ${companyId}`);
        const rule = foundRule(rules.get(relayId), companyId, relayId);
        const versionOf = async (version: number) => {
          const stored = await store.versions.get(companyId, relayId, version);
          return found(stored, `version ${version} of rule ${relayId} of company ${companyId}`).contents;
        };
        const against = asked.against === 'published' ? rule.published : asked.against;
        const noDraft = `draft of rule ${relayId} to try. Change the rule first: a change makes a draft`;
        const draft = async () => found((await store.versions.draft(companyId, relayId))?.contents, noDraft);
        const given = asked.contents ?? (await (asked.version === 'draft' ? draft() : versionOf(asked.version)));
        const checked = checkContents(given, { relayId, platform: company.platform });
        if (!checked.ok) return c.json({ tried: 0, counts: {}, problems: checked.problems, events: [] });
        const task = { relayId, contents: checked.contents, domains: company.mail?.recipientDomains, keys: keyring?.text() };
        const published = against === undefined ? undefined : await versionOf(against);
        const selected = 'last' in asked.events ? { limit: asked.events.last } : { limit: mostTried, ...asked.events };
        const rows = () => store.events.lastRows(companyId, relayId, selected);
        return c.json(await turns.take(companyId, async () => inThread({ ...task, against: published, rows: await rows() })));
      },
    }),
  ];
}

/** Runs one task at a time. A few tasks may wait. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();
  readonly #companies: string[] = []; // the company of each task that runs or waits

  /** @throws Problem 429 if too many tasks wait */
  async take<Result>(companyId: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#companies.filter((company) => company === companyId);
    if (own.length >= mostOfCompany || this.#companies.length >= mostWaiting) {
      const detail = 'The relay is already trying too many rules. Nothing was done. Try again in a few seconds.';
      throw new Problem('rate-limited', detail, { headers: { 'Retry-After': '5' }, bound: 'tries' });
    }
    this.#companies.push(companyId);
    const ended = () => this.#companies.splice(this.#companies.indexOf(companyId), 1);
    const turn = this.#last.then(work).finally(ended);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Starts a new thread for each try, so that an expression with a high use of time or memory harms nothing else. */
async function inThread(task: TryTask): Promise<Tried> {
  const resourceLimits = { maxOldGenerationSizeMb: mostMemoryMb };
  const thread = new Worker(new URL('./try-thread.js', import.meta.url), { workerData: task, resourceLimits });
  const late = setTimeout(() => void thread.terminate(), endedMs);
  try {
    return await new Promise<Tried>((resolve, reject) => {
      thread.once('message', resolve).once('error', reject);
      thread.once('exit', () => reject(new Error('The thread of a try ended without an answer')));
    });
  } finally {
    clearTimeout(late);
    void thread.terminate();
  }
}
