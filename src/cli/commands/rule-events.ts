/** `relay events`: the events of a rule, with their outcomes. */

import { z } from 'zod';
import { acceptedEventSchema, eventsResponse, notApplicableSchema, wholeEventSchema } from '../../contract/rule-event.js';
import { path, Refused } from '../api.js';
import { showAccepted } from '../chain-view.js';
import { type Commands, command, waitOption, withParts, yesOption } from '../options.js';
import { ruleAt } from '../rules/versions.js';
import { fields, readMoment } from '../text.js';

export const events: Commands = (relay, session) => {
  const events = relay.command('events').summary('the events of a rule');

  withParts(command(events, 'list <companyId> <relayId>', 'acme 4711', 'list the events of a rule, the newest first'))
    .option('--outcome <outcome>', 'events with this outcome: chain, not-applicable or refused')
    .option('--since <time>', 'events since this time: 2026-07-01T12:00:00Z, or 2h for two hours ago')
    .option('--until <time>', 'events before this time')
    .action((companyId, relayId, { outcome, since, until, ...options }) =>
      session.list(options, {
        path: `${ruleAt(companyId, relayId)}/events`,
        query: { outcome, since: since && readMoment(since, 'ago'), until: until && readMoment(until, 'ago') },
        field: 'events',
        schema: eventsResponse,
        columns: {
          EVENT: 'eventId',
          RECEIVED: 'receivedAt',
          ASSIGNMENT: 'assignmentId',
          OUTCOME: ({ outcome }) => (outcome === 'refused' ? { text: outcome, tone: 'warning' } : outcome),
          VERSION: ({ version }) => String(version),
          CHAIN: 'chainId',
          SHADOW: ({ shadow }) => shadow && `${shadow.version}: ${shadow.outcome}`,
          REASON: 'reason',
        },
        none: `Rule ${relayId} has no events.`,
        below: ({ shadowCounts }) => (shadowCounts ? ['', 'Outcomes of the shadow version:', ...fields(shadowCounts, '  ')] : []),
      }),
    );

  const example = 'acme 4711 Xk2vQ9sLm4Tz';
  const show = 'show an event, its variables and its body';
  command(events, 'show <companyId> <relayId> <eventId>', example, show).action((companyId, relayId, eventId) => {
    const asked = session.api.ask('GET', `${ruleAt(companyId, relayId)}${path`/events/${eventId}`}`, wholeEventSchema);
    return session.show(asked, ({ event, ...rest }) => [...fields(rest), '', ...JSON.stringify(event, null, 2).split('\n')]);
  });

  command(events, 'resend <companyId> <relayId> <eventId>', example, 'run the actions of an event again')
    .description('Shows the actions, and asks first. By default, the published version runs.')
    .option('--same-version', 'run the same version of the rule as the first time')
    .addOption(waitOption)
    .addOption(yesOption)
    .action(async (companyId, relayId, eventId, { sameVersion, wait, yes = false }) => {
      const target = `${ruleAt(companyId, relayId)}${path`/events/${eventId}/resend`}`;
      const version = sameVersion ? 'same' : 'published';
      const resend = (confirm: boolean) => session.api.ask('POST', target, resentSchema, { body: { version, confirm } });
      const answer = await resend(yes).catch(async (error: unknown) => {
        if (!(error instanceof Refused && error.problem.type === '/problems/not-confirmed')) throw error;
        session.note('These actions would run:');
        for (const { detail } of error.problem.errors ?? []) session.note(detail);
        await session.confirm(yes, 'Run all these actions?');
        return resend(true);
      });
      const { body } = answer;
      if (body.applies) return showAccepted(session, companyId, Promise.resolve({ ...answer, body }), wait);
      await session.show(answer, () => [`Version ${body.version} does not apply to the event: ${body.reason}`]);
    });
};

const resentSchema = z.discriminatedUnion('applies', [acceptedEventSchema, notApplicableSchema]);
