/** The usual words for a failed call: a title, and what to do. */

import { capital } from '../chain/text.js';

type Words = (name: string, about: string, what: string) => [title: string, remedy: string];

/** Returns `ticket 4711` for `the change of ticket 4711`. */
const thingIn = (about: string) => about.replace(/^the (?:change|send) of /, '');

const words = {
  credentials: (name, _, what) => [`${name} does not accept the credentials`, `Enter new credentials in ${what}, then retry`],
  rights: (name, about) => [`The relay's user at ${name} has no rights for ${about}`, 'Give this user the rights, then retry'],
  missing: (name, about) => [
    `${thingIn(about)} ${/(fields|groups|statuses)$/.test(about) ? 'do' : 'does'} not exist at ${name}`,
    'Change the number, then retry',
  ],
  conflict: (name, about) => [`Somebody else is changing ${thingIn(about)} at ${name}`, 'Retry'],
  busy: (name) => [`${name} takes no more requests now`, 'Wait a while, then retry'],
  temporary: (name) => [`${name} does not work at the moment`, 'Wait until it works again, then retry'],
  refused: (name, about) => [`${name} refused ${about}`, 'Fix the cause (see the details), then retry'],
  slow: (name) => [`${name} is too slow`, 'Wait until it answers faster, then retry'],
  unconfirmed: (name, about) => [
    `Nobody knows whether ${name} sent ${about}`,
    'Ask the recipient whether the e-mail arrived. If yes, skip the step. If no, retry',
  ],
  silent: (name) => [`${name} did not answer`, 'Check its address, or wait until it answers, then retry'],
  uncalled: (name, _, what) => [`Nothing was sent to ${name}`, `Check the address and the credentials in ${what}, then retry`],
  form: (name, _, what) => [`${name} answered in an unknown format`, `Check the address in ${what}, then retry`],
} satisfies Record<string, Words>;
export type Meaning = keyof typeof words;

/**
 * @param name - `Autotask`, `the ticket system`. @param about - `ticket 4711`
 * @param what - the place of the settings: `the company's ticketing settings`
 */
export function wordsOf(as: Meaning, name: string, about: string, what: string): { title: string; remedy: string } {
  const of: Words = words[as];
  const [title, remedy] = of(name, about, what);
  return { title: capital(title), remedy };
}

/** The usual meaning of a failure's status. */
export function meaningOf(status: number) {
  if (status === 401) return 'credentials';
  if (status === 403) return 'rights';
  if (status === 404 || status === 410) return 'missing';
  if (status === 409) return 'conflict';
  if (status === 429) return 'busy';
  return status >= 500 || status === 408 || status === 425 ? 'temporary' : 'refused';
}
