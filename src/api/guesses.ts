/**
 * Slows down somebody who guesses the token of a rule, even from many addresses: after many wrong tokens, the 401 comes late. Right
 * tokens never wait, so nobody can block a sender. Unknown rules get the same delay, so a delay does not show which rules exist.
 */

import { setTimeout } from 'node:timers/promises';
import { companyIdPattern, relayIdPattern } from '../chain/chain.js';
import { isTakenOver } from '../contract/credential.js';
import { Shares } from '../service/shares.js';
import type { Log } from '../service/telemetry.js';
import type { Credentials } from '../store/credentials.js';

const atOnce = 120; // the number of wrong tokens of a rule without a delay; then one more in each `everyMs`
const everyMs = 1000;
const longestMs = 5000;
const mostWaiting = 500; // the maximum number of delayed answers at a time; further answers are not delayed
const saidEveryMs = 3_600_000; // at most one log line an hour for a rule

export class Guesses {
  readonly #shares = new Shares(atOnce, everyMs);
  readonly #said = new Shares(1, saidEveryMs);
  #waiting = 0;

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    private readonly sleep: (ms: number) => Promise<unknown> = setTimeout,
  ) {}

  /** The promise resolves when the relay may send the 401 for these wrong credentials. */
  async slowDown(companyId: string, wrong: readonly Credentials[]): Promise<void> {
    // Tokens that the relay created are too long to guess.
    const guesses = wrong.filter(({ relayId, relayAccessToken: token }) => relayIdPattern.test(relayId) && isTakenOver(token));
    await this.#wait(companyId, new Set(guesses.map(({ relayId }) => relayId)));
  }

  /** True if no more answers can be delayed. If so, do not check guessable tokens from addresses with too many failures. */
  get isFull(): boolean {
    return this.#waiting >= mostWaiting;
  }

  /** Delays the answer to a wrong token whose rule is unknown, because the relay could not read the actions in the body. */
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
        this.log.warn({ companyId, relayId }, 'many wrong tokens for a rule: somebody may be guessing; answers are delayed');
    }
    if (longest === 0 || this.isFull) return;
    this.#waiting += 1;
    await this.sleep(longest);
    this.#waiting -= 1;
  }
}
