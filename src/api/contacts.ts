/**
 * Lists the contacts for notices. With the link of a notice, a contact opens a page and confirms that it wants notices. A GET of
 * the page confirms nothing, because mail scanners open links, too.
 */

import type { Context } from 'hono';
import { html } from 'hono/html';
import { contactsOf, contactsResponse } from '../contract/notify.js';
import type { Rule } from '../contract/rule.js';
import { type Authenticated, assertOwnPage } from './bearer-authentication.js';
import { sendForm } from './page.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

const idPattern = /^[\w-]{32}$/;

export function contactRoutes({ store, limits }: ApiOptions): Route[] {
  const { settings, contacts, companies } = store;

  /** Finds the contact of the link. @throws Problem rate-limited if requests from this client address failed too often */
  const asked = async (c: Context<Authenticated>) => {
    await limits.refuseFailing(c, async () => false);
    const link = c.req.param('link') ?? '';
    const contact = idPattern.test(link) ? await contacts.of(link) : undefined;
    const company = contact && (await companies.get(contact.companyId));
    return company && { ...contact, name: company.name };
  };

  return [
    route.manager('GET /admin/companies/:companyId/contacts', 'listContacts', 'List the contacts for notices', {
      answers: { 200: ['First the contacts of the company, then the contacts of its rules.', contactsResponse] },
      async handle(c, { companyId }) {
        const { company, rules } = found(await settings.of(companyId), `company ${companyId}`);
        const unconfirmed = new Set((await contacts.unconfirmed(companyId)).map(({ contact }) => contact));
        const listed = ({ notify = {}, relayId }: Pick<Rule, 'notify'> & { relayId?: string }) =>
          contactsOf(notify).map((contact) => ({ contact, relayId, confirmed: !unconfirmed.has(contact) }));
        return c.json({ contacts: [company, ...rules.values()].flatMap(listed) });
      },
    }),
    route.anyone('GET /confirm/:link', 'getConfirmation', 'Open the page that confirms a contact', {
      onPage: true,
      description: 'This request changes nothing.',
      answers: { 200: ['A page.', 'text/html'], 401: ['The link is invalid or was used before.', 'text/html'] },
      problems: ['rate-limited'],
      async handle(c) {
        const contact = await asked(c);
        if (!contact) return gone(c);
        return sendForm(
          c,
          'Do you want these notices?',
          html`<p>${contact.name} wants to send notices to <strong>${contact.contact}</strong> when a step of a chain fails.</p>
<p>Until you confirm, you get only the first notice of each problem, at most ten a day.
If these notices are not for you, close this page.</p>
<form method="post"><p><button>Confirm</button></p></form>`,
        );
      },
    }),
    route.anyone('POST /confirm/:link', 'confirmContact', 'Confirm a contact with the form of the confirmation page', {
      onPage: true,
      answers: {
        200: ['The contact gets all notices now.', 'text/html'],
        401: ['The link is invalid or was used before.', 'text/html'],
      },
      problems: ['foreign-page', 'rate-limited'],
      async handle(c) {
        assertOwnPage(c);
        const contact = await asked(c);
        if (!contact || !(await contacts.confirm(contact.contactId))) return gone(c);
        return sendForm(c, 'Confirmed', html`<p role="status">Notices of ${contact.name} now go to ${contact.contact}.</p>`);
      },
    }),
  ];
}

function gone(c: Context<Authenticated>) {
  c.status(401);
  const said = 'This link is incomplete, was used before, or belongs to an e-mail address that is not a contact any more.';
  return sendForm(c, 'Nothing to confirm', html`<p role="status">${said}</p>`);
}
