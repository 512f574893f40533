/** The words of notices about quiet rules, and of the weekly digest. */

import { rulePage } from '../chain/chain.js';
import { counted, spanText } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import type { QuietNotice, WeeklyNotice } from '../contract/notices.js';
import { type NoticeContext, relay, type Words } from './frame.js';

export function quietWords(notice: QuietNotice, context: NoticeContext): Words {
  const { companyId, relayId, since, lastEvent, eventAt, silentSeconds, expectEvery, expectWithin, usualEvery } = notice;
  const time = timesIn(context.timeZone);
  const links = [{ label: 'Open the rule', url: rulePage(context.links.api, companyId, relayId) }];
  const hint = 'The link opens the relay, where you sign in.';
  if (eventAt !== undefined) {
    const headline = 'Events come again';
    return {
      ...{ type: 'quiet.over', headline, title: headline, links, hint },
      place: [`Quiet since: ${time(since)}`, `Next event: ${time(eventAt)}`],
      wrong: ['The rule has received an event again.'],
    };
  }
  const headline = `No event for ${spanText(silentSeconds)}`;
  const usual =
    usualEvery === undefined ? '' : `. Usually, an event comes every ${spanText(usualEvery)} at this time of the week`;
  const last = lastEvent ? `Last event: ${time(lastEvent)}` : 'No event has come since the rule was published.';
  const within = expectWithin ? '. Only the days and hours in the settings of the rule count' : '';
  return {
    ...{ headline, title: headline, links, hint },
    place: since === lastEvent ? [last] : [last, `Last change of the rule: ${time(since)}`],
    wrong: [
      `${headline}${usual}. Perhaps the sender has stopped, or sends to another address.`,
      `The rule expects an event every ${spanText(expectEvery)}${within}. The relay does not count the time during a pause, or the time when the relay did not run.`,
    ],
    toDo: [
      'Check whether the webhook of the sender is still enabled, and whether its address and token are right.',
      'If events come less often now, change “Send a notice if no event arrives for” in the settings of the rule.',
    ],
    sections: {
      'How often you get this notice': ['You get one notice when the events stop, and one when the next event comes.'],
    },
    operator: [relay(`rules set ${companyId} ${relayId} --expect-every 1d`, context)],
  };
}

export function weeklyWords(notice: WeeklyNotice, { companyName, links, timeZone }: NoticeContext): Words {
  const { companyId, since, until, chains, failed, nobody, refused, quiet, rules } = notice;
  const day = (iso: string) => timesIn(timeZone)(iso).slice(0, 10);
  const headline = `The week from ${day(since)}: ${counted(chains, 'chain')}, ${failed} failed`;
  return {
    headline,
    about: companyName,
    title: headline,
    place: [`From ${day(since)} to ${day(until)}`],
    wrong: [
      `${counted(failed, 'chain')} failed.`,
      `Chains that found no technician: ${nobody}.`,
      `The relay refused ${counted(refused, 'request')} to your rules.`,
      quiet.length === 0
        ? 'All rules that expect events are getting events now.'
        : `Rules that expect events but are getting none now: ${quiet.join(', ')}.`,
    ],
    links: [{ label: 'Open the console', url: `${links.api}/companies/${companyId}` }],
    sections: {
      'Rules with failures': rules.map(({ relayId, name, chains, failed }) => ({
        label: `${name}: ${failed} of ${chains} failed`,
        url: rulePage(links.api, companyId, relayId),
      })),
      'To stop this summary': ['Switch off the weekly summary in the settings of the company.'],
    },
  };
}
