/**
 * Guesses at the token of one rule, from however many addresses: beyond some, their 401 comes slowly. Right tokens never wait, so
 * nobody can lock their sender out. Counted by the rule that a request names, whether or not there is one: waiting tells nothing.
 */

import { setTimeout } from 'node:timers/promises';
import { companyIdPattern, relayIdPattern } from '../chain/chain.js';
import { isTakenOver } from '../contract/credential.js';
import { Shares } from '../service/shares.js';
import type { Log } from '../service/telemetry.js';
import type { Credentials } from '../store/credentials.js';

const atOnce = 120; // wrong tokens of a rule; then one every
const everyMs = 1000;
const longestMs = 5000;
const mostWaiting = 500; // answers of a process; further ones do not wait
const saidEveryMs = 3_600_000; // of a rule

export class Guesses {
  readonly #shares = new Shares(atOnce, everyMs);
  readonly #said = new Shares(1, saidEveryMs);
  #waiting = 0;

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    private readonly sleep: (ms: number) => Promise<unknown> = setTimeout,
  ) {}

  /** Resolves when these credentials, none of which was ever right, may be refused. */
  async slowDown(companyId: string, wrong: readonly Credentials[]): Promise<void> {
    // What the relay has made cannot be guessed, and an id that no rule can have needs no guarding.
    const guesses = wrong.filter(
      ({ relayId, relayAccessToken }) => relayIdPattern.test(relayId) && isTakenOver(relayAccessToken),
    );
    await this.#wait(companyId, new Set(guesses.map(({ relayId }) => relayId)));
  }

  /** Whether no further guess is compared for an address that has failed too often: so many wait that the next would not. */
  get isFull(): boolean {
    return this.#waiting >= mostWaiting;
  }

  /** The same for a wrong token whose rule is not looked at, since its address has failed too often. */
  async slowDownAny(companyId: string): Promise<void> {
    await this.#wait(companyId, ['any']);
  }

  async #wait(companyId: string, relayIds: Iterable<string>): Promise<void> {
    if (!companyIdPattern.test(companyId)) return;
    let longest = 0;
    for (const relayId of relayIds) {
      const rule = `${companyId} ${relayId}`;
      const waitMs = this.#shares.wait(rule);
      this.#shares.take(rule, longestMs);
      longest = Math.max(longest, Math.min(waitMs, longestMs));
      if (waitMs > 0 && this.#said.take(rule))
        this.log.warn({ companyId, relayId }, 'many wrong tokens for a rule: somebody may be guessing; they are answered slowly');
    }
    if (longest === 0 || this.isFull) return;
    this.#waiting += 1;
    await this.sleep(longest);
    this.#waiting -= 1;
  }
}
