/** The people of a company. They sign in with a link in a mail, or with OpenID Connect. */

import { z } from 'zod';
import { optionalText } from '../chain/action-status.js';
import { addressOf, isEmailAddress } from '../chain/address.js';
import { keySchema, type Role } from './credential.js';
import { named, namedStrict } from './named.js';
import { label } from './notify.js';
import { encrypted } from './secrets.js';

/** The maximum number of people that a company can list. */
export const mostPeople = 500;

const { role } = keySchema.shape;
export const personSchema = named('Person', {
  personId: z.string(),
  name: z.string().describe('The name in the audit log and beside decisions. It is stored unencrypted.'),
  email: encrypted(z.string()).optional().describe('The address. Absent if the sign-in service has not verified it.'),
  role,
  issuer: optionalText.describe(
    'The OpenID Connect service that the person uses. The person is bound to one account of this service.',
  ),
  fromGroup: z.string().optional().describe('The sign-in group that gives the role. Absent if the company lists the person.'),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().optional().describe('The last sign-in.'),
});
export type Person = z.infer<typeof personSchema>;

export const addedPersonSchema = named('AddedPerson', {
  ...personSchema.shape,
  invited: z.boolean().describe('Whether the mail server has taken the mail that tells the person how to sign in.'),
});

export const peopleResponse = z.object({ people: z.array(personSchema) });

export const personRequest = namedStrict('NewPerson', {
  email: z.string().max(320).refine(isEmailAddress, 'is no e-mail address').transform(addressOf),
  name: label.optional().describe('Default: the part of the address before the `@`.'),
  role,
});
export type NewPerson = z.infer<typeof personRequest>;

/** The members of this group at the sign-in service get this role in the company. */
export type Grant = { companyId: string; role: Role; group: string };

/** An account at the sign-in service. `email`: only if the service has verified the address. */
export type Identity = { issuer: string; subject: string; name: string; email?: string | undefined; grants: readonly Grant[] };
