/** The people and keys of a company, and its audit log. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { AuditEntry, auditResponse } from '../../contract/audit.js';
import type { createdKeyResponse, keysResponse } from '../../contract/credential.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { ExportLinks } from '../export.js';
import { Page } from '../frame.js';
import { People, roleOptions, roleWords } from '../people.js';
import { seldom, usePages, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Deed, DeedButton, Opener, ShownOnce } from '../ui/dialog.js';
import { Choice, Entry } from '../ui/fields.js';
import { Known } from '../ui/known.js';
import { Pager, Table } from '../ui/table.js';
import { Lifetime, Said, Time } from '../ui/text.js';

const expiries: [days: string, words: string][] = [
  ['0', 'never'],
  ['7', 'in 7 days'],
  ['90', 'in 90 days'],
  ['365', 'in 1 year'],
];

type CreatedKey = z.infer<typeof createdKeyResponse>;

export function PeoplePage() {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/keys`;
  const keys = useResource<z.infer<typeof keysResponse>>(at, seldom);
  const made = useSignal<CreatedKey | undefined>(undefined);
  return (
    <Page title="People and audit" about="People sign in with their e-mail address. Programs send a key with each request.">
      <People />
      <h2>Keys</h2>
      <p>
        <Opener opens="Create a key">
          {(onClose) => <NewKey at={at} onClose={onClose} onMade={(key) => (made.value = key)} />}
        </Opener>
      </p>
      <Known of={keys}>
        {({ keys: known }) =>
          known.length === 0 ? (
            <p class="card">There are no keys yet.</p>
          ) : (
            <ul class="plain cards">
              {known.map((key) => (
                <li key={key.keyId} class="card">
                  <h3>{key.name}</h3>
                  <p>
                    <span class="badge busy">{key.role}</span> {roleWords[key.role]}
                  </p>
                  <Lifetime of={key} />
                  <p>
                    <DeedButton
                      unseen={`the key ${key.name}`}
                      title={`Delete the key ${key.name}?`}
                      verb="Delete"
                      danger
                      change={() => ask('DELETE', at + path`/${key.keyId}`)}
                      words="Key deleted."
                      onDone={keys.refresh}
                    >
                      <p>The key stops working, and everybody who signed in with it is signed out.</p>
                    </DeedButton>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Known>
      <Audit />
      {made.value && (
        <ShownOnce
          title={`Key for ${made.value.name}`}
          secret={made.value.key}
          onClose={() => {
            made.value = undefined;
            keys.refresh();
          }}
        >
          <p>Send this key to its owner over a private channel.</p>
        </ShownOnce>
      )}
    </Page>
  );
}

function NewKey({ at, onClose, onMade }: { at: string; onClose(): void; onMade(key: CreatedKey): void }) {
  const [name, role, days] = [useSignal(''), useSignal<string>('steer'), useSignal('0')];
  const make = async () => {
    const expiresAt = days.value === '0' ? undefined : new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
    onMade(await ask<CreatedKey>('POST', at, { name: name.value, role: role.value, expiresAt }));
  };
  return (
    <Deed title="Create a key" verb="Create" change={make} words="Key created." onClose={onClose}>
      <Entry
        label="Name"
        hint="The program that uses the key. The audit log shows this name."
        of={name}
        required
        maxLength={200}
      />
      <Choice label="Role" of={role} options={roleOptions} />
      <Choice label="Expires" of={days} options={expiries} />
    </Deed>
  );
}

function Audit() {
  const { companyId, timeZone } = useCompany();
  const [audit, cursors] = usePages<z.infer<typeof auditResponse>>(path`/admin/companies/${companyId}/audit`, seldom);
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
      <Known of={audit}>
        {({ entries, nextCursor }) => (
          <>
            <Table caption="Changes, the newest first" columns={[`When (${timeZone})`, 'Who', 'What']}>
              {entries.map(({ auditId, at, actor, action, details }) => (
                <tr key={auditId}>
                  <td class="tight">
                    <Time at={at} />
                  </td>
                  <td>{actorWords(actor)}</td>
                  <td>
                    {action} <Details details={details} />
                  </td>
                </tr>
              ))}
            </Table>
            {entries.length === 0 && <p class="card">There are no entries yet.</p>}
            <Pager cursors={cursors} next={nextCursor} />
            <ExportLinks what="audit" />
          </>
        )}
      </Known>
    </section>
  );
}

function Details({ details }: { details: AuditEntry['details'] }) {
  const { companyId } = useCompany();
  return (
    <span class="soft small">
      {Object.entries(details).map(([name, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        const to =
          name === 'chainId' ? pageOf.chain(companyId, text) : name === 'relayId' ? pageOf.rule(companyId, text) : undefined;
        return (
          <span key={name}>
            {name}: {to ? <a href={to}>{text}</a> : <Said text={text} />}{' '}
          </span>
        );
      })}
    </span>
  );
}

function actorWords(actor: z.infer<typeof auditResponse>['entries'][number]['actor']): string {
  if (actor.kind === 'link') return `link in a notice to ${actor.contact}`;
  return actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`;
}
