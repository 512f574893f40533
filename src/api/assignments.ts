/** `/co/{companyId}/assignments/{assignmentId}`: the current status of an assignment on the company's platform. */

import { ConnectorError } from '../connectors/call.js';
import { type AssignmentNow, assignmentNowSchema } from '../contract/assignment.js';
import type { Company } from '../contract/company.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

const answerTimeoutMs = 5_000;
const freshMs = 10_000; // the relay keeps an answer this long, because an open page asks repeatedly, and platforms limit requests
const mostKept = 1_000;

export function assignmentRoutes({ store, connectors }: ApiOptions): Route[] {
  const kept = new Map<string, { answer: Promise<AssignmentNow>; until: number }>(); // the last answers, the oldest first
  const read = (company: Company, assignmentId: string): Promise<AssignmentNow> => {
    const key = `${company.companyId} ${assignmentId}`;
    const known = kept.get(key);
    if (known && known.until > Date.now()) return known.answer;
    const answer = ask(company, assignmentId);
    kept.delete(key);
    kept.set(key, { answer, until: Date.now() + freshMs });
    const [oldest] = kept.size > mostKept ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return answer;
  };
  const ask = async (company: Company, assignmentId: string): Promise<AssignmentNow> => {
    const now = { assignmentId, readAt: new Date().toISOString() };
    try {
      const { status } = await connectors.platformOf(company).getAssignment(assignmentId, { timeoutMs: answerTimeoutMs });
      return { ...now, status: typeof status === 'string' ? status.slice(0, 200) : undefined };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      const { message, facts } = error;
      const { title = 'The assignment platform gave an error or no answer', remedy, status } = facts;
      return { ...now, problem: { title, remedy, message, missing: status === 404 || status === 410 } };
    }
  };
  return [
    route.company('GET /co/:companyId/assignments/:assignmentId', 'getAssignment', 'Read the status of an assignment now', {
      use: 'reads',
      description:
        'Waits at most five seconds for the answer of the platform of the company. The relay keeps each answer for ten seconds.',
      answers: { 200: ['The status at the platform, or the reason why the status is unknown.', assignmentNowSchema] },
      async handle(c, { companyId, assignmentId }) {
        const { company } = found(await store.settings.of(companyId), `company ${companyId}`);
        return c.json(await read(company, found(assignmentId.length <= 500 && assignmentId, `assignment ${assignmentId}`)));
      },
    }),
  ];
}
