/** `/admin/companies/{companyId}/people`: the people who can sign in to a company, and need no key. */

import { actorName, type Caller } from '../contract/audit.js';
import { makeId, type Role } from '../contract/credential.js';
import { addedPersonSchema, mostPeople, peopleResponse, personRequest, personSchema } from '../contract/person.js';
import { roleWords } from '../contract/role-words.js';
import { Shares } from '../service/shares.js';
import { found, limitReached, notFound } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** The number of invitations that a company can send without a wait; then one more in each `invitedEveryMs`. */
const [mostInvited, invitedEveryMs] = [50, 60_000];

export function peopleRoutes({ store, connectors: { operatorMail }, links, log }: ApiOptions): Route[] {
  const { people, companies } = store;
  const invited = new Shares(mostInvited, invitedEveryMs);
  /** @returns whether the mail server has taken the mail. */
  const invite = async (companyId: string, actor: Caller, person: { email: string; role: Role }): Promise<boolean> => {
    if (!operatorMail || !invited.take(companyId)) return false;
    const { name = companyId } = (await companies.get(companyId)) ?? {};
    const message = {
      ...{ from: operatorMail.from, to: person.email, messageId: `invitation-${makeId()}@relay` },
      subject: `You can now sign in to the relay of ${name}`,
      text: `You can now sign in to the relay of ${name}. You were added by: ${actorName(actor)}.\n
Your role is ${roleWords[person.role]}.\n
Sign in: ${links.api}/sign-in
There, enter your address ${person.email}. You then get a mail with a link.\n
If you do not know ${name}, ignore this mail.\n`,
    };
    try {
      await operatorMail.mailer.send(message, { timeoutMs: 10_000 });
      return true;
    } catch (err) {
      log.warn({ err, companyId }, 'an invitation was not sent');
      return false;
    }
  };
  return [
    route.manager('GET /admin/companies/:companyId/people', 'listPeople', 'List the people of a company', {
      answers: { 200: ['The people, sorted by name.', peopleResponse] },
      async handle(c, { companyId }) {
        return c.json(peopleResponse.parse({ people: found(await people.list(companyId), `company ${companyId}`) }));
      },
    }),
    route.manager('PUT /admin/companies/:companyId/people', 'putPerson', 'Add a person, or change a role', {
      description:
        'The e-mail address identifies the person. Without `name`, the relay does not change the name. An added person gets a mail.',
      body: personRequest,
      answers: { 200: ['The person is changed.', personSchema], 201: ['The person is added.', addedPersonSchema] },
      problems: ['limit-reached', 'not-found'],
      async handle(c, { companyId, actor, body }) {
        const done = await people.set(companyId, body, actor);
        if (done === 'unknown company') throw notFound(`company ${companyId}`);
        if (done === 'too many') throw limitReached(companyId, `${mostPeople} people`);
        if (!done.created) return c.json(personSchema.parse(done.person), 200);
        return c.json(addedPersonSchema.parse({ ...done.person, invited: await invite(companyId, actor, body) }), 201);
      },
    }),
    route.manager('DELETE /admin/companies/:companyId/people/:personId', 'removePerson', 'Remove a person', {
      description: 'The sessions and event streams of the person end, and the links to sign in become invalid.',
      answers: { 204: ['The person is removed.'] },
      async handle(c, { companyId, personId, actor }) {
        found(await people.remove(companyId, personId, actor), `person ${personId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}
