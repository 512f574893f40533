/** The people of a company, who sign in without a key. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { Role } from '../contract/credential.js';
import type { Person, peopleResponse } from '../contract/person.js';
import { path } from './addresses.js';
import { ask } from './api.js';
import { seldom, useResource } from './resource.js';
import { useCompany } from './session.js';
import { Deed, DeedButton, Opener } from './ui/dialog.js';
import { Choice, Entry } from './ui/fields.js';
import { Known } from './ui/known.js';
import { Time } from './ui/text.js';

export const roleWords: Record<Role, string> = {
  read: 'can see chains and refused requests',
  steer: 'can also retry, edit, skip and cancel, and send refused requests',
  author: 'can also write and publish rules, and make their tokens',
  manage: 'can also change settings, people and keys, and delete rules',
};
export const roleOptions = Object.entries(roleWords).map(([role, words]) => [role, `${role}: ${words}`] as const);

export function People() {
  const at = path`/admin/companies/${useCompany().companyId}/people`;
  const known = useResource<z.infer<typeof peopleResponse>>(at, seldom);
  return (
    <section aria-labelledby="people">
      <h2 id="people">People</h2>
      <p>
        <Opener opens="Add a person" look="main">
          {(onClose) => <PersonForm at={at} onClose={onClose} onDone={known.refresh} />}
        </Opener>
      </p>
      <Known of={known}>
        {({ people }) => (
          <ul class="plain cards">
            {people.map((person) => (
              <PersonCard key={person.personId} person={person} at={at} onDone={known.refresh} />
            ))}
          </ul>
        )}
      </Known>
    </section>
  );
}

function PersonCard({ person, at, onDone }: { person: Person; at: string; onDone(): void }) {
  const { personId, name, email, role, issuer, fromGroup, lastUsedAt } = person;
  return (
    <li class="card">
      <h3>{name}</h3>
      <p>
        <span class="badge busy">{role}</span> {email}
      </p>
      <p class="soft small">
        {lastUsedAt ? <Time before="Last signed in " at={lastUsedAt} distance /> : 'Never signed in'}
        {issuer && `; uses ${new URL(issuer).host}`}
        {fromGroup && `; the role comes from the group ${fromGroup}`}
      </p>
      <p class="row">
        {email && !fromGroup && (
          <Opener opens="Change" unseen={name}>
            {(onClose) => <PersonForm at={at} person={person} onClose={onClose} onDone={onDone} />}
          </Opener>
        )}
        <DeedButton
          unseen={name}
          title={`Remove ${name}?`}
          verb="Remove"
          danger
          change={() => ask('DELETE', at + path`/${personId}`)}
          words="Person removed."
          onDone={onDone}
        >
          <p>{name} is signed out at once, and cannot sign in again.</p>
          {fromGroup && (
            <p>
              Also remove {name} from the group. Otherwise the next sign-in adds {name} again.
            </p>
          )}
        </DeedButton>
      </p>
    </li>
  );
}

function PersonForm({ at, person, ...dialog }: { at: string; person?: Person; onClose(): void; onDone(): void }) {
  const email = useSignal(person?.email ?? '');
  const [name, role] = [useSignal(person?.name ?? ''), useSignal<string>(person?.role ?? 'steer')];
  const save = () => ask('PUT', at, { email: email.value, name: name.value || undefined, role: role.value });
  const title = person ? `Change ${person.name}` : 'Add a person';
  return (
    <Deed title={title} verb={person ? 'Save' : 'Add'} change={save} words="Saved." {...dialog}>
      <Entry label="E-mail address" type="email" of={email} required maxLength={320} readOnly={person !== undefined} />
      <Entry label="Name" hint="The audit log shows this name." of={name} maxLength={200} />
      <Choice label="Role" of={role} options={roleOptions} />
    </Deed>
  );
}
