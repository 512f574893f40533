/** The health of rules: counts over time, quiet rules, and a proposal for `expectEvery`. */

import { z } from 'zod';
import { proposedExpectation } from '../chain/expectation.js';
import { companyHealthSchema, mostDays, ruleHealthSchema } from '../contract/health.js';
import type { Store } from '../store/store.js';
import { found, foundRule } from './problems.js';
import { type Route, route } from './route.js';

const daysQuery = (days: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(mostDays)
    .default(days)
    .describe(`The number of past days that the counts cover, at most ${mostDays}.`);

export function healthOfRulesRoutes({ companies, rules, health }: Store): Route[] {
  return [
    route.company('GET /co/:companyId/health', 'getCompanyHealth', 'Read the health of all rules', {
      description: 'The counts are about a second old. The counts show a failed chain about a minute after its end, or earlier.',
      use: 'lists',
      query: z.object({ days: daysQuery(7) }),
      answers: { 200: ['All rules, and the last 24 hours of the company.', companyHealthSchema] },
      async handle(c, { companyId, query: { days } }) {
        found(await companies.get(companyId), `company ${companyId}`);
        return c.json(companyHealthSchema.parse(await health.companyNow(companyId, days)));
      },
    }),
    route.company('GET /co/:companyId/rules/:relayId/health', 'getRuleHealth', 'Read the health of a rule', {
      use: 'lists',
      query: z.object({
        by: z.enum(['hour', 'day']).default('day').describe('Days begin at midnight in the time zone of the company.'),
        days: daysQuery(mostDays),
      }),
      answers: { 200: ['The counts of the rule over time.', ruleHealthSchema] },
      async handle(c, { companyId, relayId, query: { by, days } }) {
        const { timeZone } = found(await companies.get(companyId), `company ${companyId}`);
        const rule = foundRule(await rules.get(companyId, relayId), companyId, relayId);
        const [known, minutes] = await Promise.all([
          health.rule(companyId, relayId, { by, days, timeZone }),
          health.eventMinutes(companyId, relayId),
        ]);
        return c.json(ruleHealthSchema.parse({ ...rule, ...known, proposed: proposedExpectation(minutes, timeZone) }));
      },
    }),
  ];
}
