/** `/admin/companies/{companyId}/people`: the people who can sign in to a company, and need no key. */

import { mostPeople, peopleResponse, personRequest, personSchema } from '../contract/person.js';
import type { Store } from '../store/store.js';
import { found, limitReached, notFound } from './problems.js';
import { type Route, route } from './route.js';

export function peopleRoutes({ people }: Pick<Store, 'people'>): Route[] {
  return [
    route.manager('GET /admin/companies/:companyId/people', 'listPeople', 'List the people of a company', {
      answers: { 200: ['The people, sorted by name.', peopleResponse] },
      async handle(c, { companyId }) {
        return c.json(peopleResponse.parse({ people: found(await people.list(companyId), `company ${companyId}`) }));
      },
    }),
    route.manager('PUT /admin/companies/:companyId/people', 'putPerson', 'Add a person, or change a role', {
      description: 'The e-mail address identifies the person. Without `name`, the name of a listed person stays.',
      body: personRequest,
      answers: { 200: ['The person is changed.', personSchema], 201: ['The person is added.', personSchema] },
      problems: ['limit-reached', 'not-found'],
      async handle(c, { companyId, actor, body }) {
        const done = await people.set(companyId, body, actor);
        if (done === 'unknown company') throw notFound(`company ${companyId}`);
        if (done === 'too many') throw limitReached(companyId, `${mostPeople} people`);
        return c.json(personSchema.parse(done.person), done.created ? 201 : 200);
      },
    }),
    route.manager('DELETE /admin/companies/:companyId/people/:personId', 'removePerson', 'Remove a person', {
      description: 'The sessions, event streams and links of the person end.',
      answers: { 204: ['The person is removed.'] },
      async handle(c, { companyId, personId, actor }) {
        found(await people.remove(companyId, personId, actor), `person ${personId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}
