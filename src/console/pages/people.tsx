/** The people and keys of a company, and its audit log. */

import { admin, announce, ask, pageOf, path, seldom, useCompany, usePages, useResource } from '../base.js';
import { Page } from '../frame.js';
import type { auditResponse, createdKeyResponse, keysResponse, Person, peopleResponse, Role, z } from '../types.js';
import { DeedButton, ExportLinks, Known, Lifetime, Pager, Said, SecretButton, Section, Table, Time } from '../ui/index.js';
import { auditSentence, callerWords, roleName, roleWords, technicalDetails, timeIn } from '../words.js';

const changing = <span class="unseen">Actions</span>;

export function PeoplePage() {
  return (
    <Page title="People and changes" about="People sign in with their e-mail address. Programs send a key with each request.">
      <People />
      <Keys />
      <Audit />
    </Page>
  );
}

function Audit() {
  const { timeZone, ruleName } = useCompany();
  const [audit, cursors] = usePages<z.infer<typeof auditResponse>>(admin`/audit`);
  return (
    <Section title="Changes (audit log)" look="">
      <Known of={audit}>
        {({ entries, nextCursor }) => (
          <>
            <Table
              caption="Changes, the newest first"
              empty="There are no entries yet."
              columns={[`When (${timeZone})`, 'Who', 'What']}
              rows={entries.map(({ auditId, at, actor, action, details }) => {
                const known = Object.entries(details).filter(([, value]) => value !== null);
                const what = [
                  <summary>{auditSentence(action, details, ruleName)}</summary>,
                  <span class="soft small">{`${technicalDetails()}: ${action} `}</span>,
                  known.map(([name, value]) => <Detail key={name} name={name} value={value} />),
                ];
                return [auditId, [<Time at={at} />, callerWords(actor), <details>{what}</details>]];
              })}
            />
            <Pager cursors={cursors} next={nextCursor} />
            <ExportLinks what="audit" />
          </>
        )}
      </Known>
    </Section>
  );
}

function Detail({ name, value }: { name: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const pages = { chainId: pageOf.chain, relayId: pageOf.rule, rejectedId: pageOf.refusal, assignmentId: pageOf.assignment };
  const pageFor = pages[name as keyof typeof pages];
  const isIndex = name === 'index'; // people count steps from 1
  return (
    <span class="soft small">
      {isIndex ? 'step' : name.replace(/Id$/, '')}:{' '}
      {pageFor ? <a href={pageFor(text)}>{text}</a> : <Said text={isIndex ? String(Number(text) + 1) : text} />}{' '}
    </span>
  );
}

const roles = {
  label: 'Role',
  hint: 'The first role has the fewest rights. Each role also has all rights of the roles before it.',
  options: Object.entries(roleWords),
};
const roleField = (first: Role) => ({ ...roles, first });

const personFields = ({ email, name, role = 'steer' }: Partial<Person> = {}) =>
  ({
    email: { label: 'E-mail address', type: 'email', required: true, maxLength: 320, first: email, readOnly: !!email },
    name: { label: 'Name', hint: 'When this person changes something, the relay shows this name.', maxLength: 200, first: name },
    role: roleField(role),
  }) as const;

export function People() {
  const at = admin`/people`;
  const people = useResource<z.infer<typeof peopleResponse>>(at, seldom);
  const put = async ({ name, ...given }: Record<string, string>) => {
    const { invited } = await ask<{ invited?: boolean }>('PUT', at, { ...given, name: name || undefined });
    const missed = `No mail was sent. Tell the person to open ${location.origin}/sign-in.`;
    announce(`Saved. ${invited ? 'The person gets a mail that says how to sign in.' : invited === false ? missed : ''}`.trim());
  };
  const form = { change: put, words: '' };
  return (
    <Section title="People" look="">
      <DeedButton {...form} look="main" opens="Add a person" title="Add a person" verb="Add" fields={personFields()} />
      <Known of={people}>
        {(known) => (
          <Table
            {...{ caption: 'People', columns: ['Name', 'Role', 'Last sign-in', changing], named: 2 }}
            empty="Nobody has been added yet."
            rows={known.people.map((person) => {
              const { name, email, role, lastUsedAt, issuer, fromGroup } = person;
              const account = issuer && `, with an account at ${new URL(issuer).host}`;
              const uses = [lastUsedAt ? <Time at={lastUsedAt} distance /> : 'never', account];
              const edit = { opens: 'Change', unseen: name, title: `Change ${name}`, verb: 'Save', fields: personFields(person) };
              const change = email && !fromGroup && <DeedButton {...{ ...form, ...edit }} />;
              const remove = <DeedButton {...{ ...form, ...removing(person, at) }} />;
              const access = fromGroup ? `${roleName(role)} (as in the sign-in service: ${fromGroup})` : roleName(role);
              return [person.personId, [[<strong>{name}</strong>, ' ', email], access, uses, [change, ' ', remove]]];
            })}
          />
        )}
      </Known>
    </Section>
  );
}

function removing({ personId, name, fromGroup }: Person, at: string) {
  const change = () => ask('DELETE', at + path`/${personId}`);
  const ofGroup = fromGroup
    ? ` Also remove ${name} from the group ${fromGroup} in your sign-in service. Otherwise the relay adds ${name} again at the next sign-in.`
    : ' This person can no longer sign in.';
  const about = `${name} is signed out immediately.${ofGroup}`;
  return { unseen: name, title: `Remove ${name}?`, verb: 'Remove', danger: true, words: 'Person removed.', about, change };
}

const expiries = { 0: 'never', 7: 'in 7 days', 90: 'in 90 days', 365: 'in 1 year' };
const fields = {
  name: { label: 'Name', hint: 'The name of the program that uses the key.', required: true, maxLength: 200 },
  ...{ role: roleField('steer'), days: { label: 'Expires', options: Object.entries(expiries), first: '0' } },
};

const newKey = {
  ...{ opens: 'Create a key', verb: 'Create', words: 'Key created.', shown: 'New key' },
  help: 'Send this key in a private message to the person who sets up the program.',
};

const about = 'The key stops working, and everybody who signed in with it is signed out.';
const deleting = { verb: 'Delete', danger: true, words: 'Key deleted.', about };

export function Keys() {
  const at = admin`/keys`;
  const keys = useResource<z.infer<typeof keysResponse>>(at, seldom);
  const change = async ({ name, role, days }: Record<string, string>) =>
    (await ask<z.infer<typeof createdKeyResponse>>('POST', at, { name, role, expiresAt: timeIn(Number(days) * 86_400) })).key;
  return (
    <Section title="Keys" look="">
      <SecretButton {...{ ...newKey, fields, change }} />
      <Known of={keys}>
        {(known) => (
          <Table
            {...{ caption: 'Keys', columns: ['Name', 'Role', 'Last use', changing], named: 2, empty: 'There are no keys yet.' }}
            rows={known.keys.map((key) => {
              const { keyId, name, role } = key;
              const dialog = { ...deleting, unseen: `the key “${name}”`, title: `Delete the key “${name}”?` };
              const remove = <DeedButton {...dialog} change={() => ask('DELETE', at + path`/${keyId}`)} />;
              return [keyId, [name, roleWords[role], <Lifetime of={key} />, remove]];
            })}
          />
        )}
      </Known>
    </Section>
  );
}
