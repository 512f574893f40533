/** Who may do what in the company, and who did what. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { AuditEntry, auditResponse } from '../../contract/audit.js';
import type { CompanyKey, createdKeyResponse, keysResponse, Role } from '../../contract/credential.js';
import { pageOf, path, query } from '../addresses.js';
import { ask } from '../api.js';
import { Page } from '../frame.js';
import { Choice, Confirm, Entry, Known, Pager, ShownOnce, Time, useDeed } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';

const roleWords: Record<Role, string> = {
  read: 'sees chains and refused requests',
  steer: 'also decides, and sends refused requests again',
  manage: 'also changes settings, rules and keys',
};
const expiries: [days: string, words: string][] = [
  ['0', 'never'],
  ['7', 'in a week'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
];

type CreatedKey = z.infer<typeof createdKeyResponse>;

export function PeoplePage() {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}/keys`;
  const keys = useResource<z.infer<typeof keysResponse>>(at, seldom);
  const [isAsked, made, ended] = [
    useSignal(false),
    useSignal<CreatedKey | undefined>(undefined),
    useSignal<CompanyKey | undefined>(undefined),
  ];
  const deed = useDeed();
  const end = async ({ keyId }: CompanyKey) => {
    if (!(await deed.run(() => ask('DELETE', at + path`/${keyId}`), 'The key is deleted.'))) return;
    ended.value = undefined;
    keys.refresh();
  };
  return (
    <Page title="People and audit" about="Whoever has a key signs in with it, and programs send it.">
      <h2>Keys</h2>
      <p>
        <button type="button" class="main" onClick={() => (isAsked.value = true)}>
          Make a key…
        </button>
      </p>
      <Known of={keys}>
        {({ keys: known }) =>
          known.length === 0 ? (
            <p class="card">There is no key yet: only operators see this company.</p>
          ) : (
            <ul class="plain cards">
              {known.map((key) => (
                <li key={key.keyId} class="card">
                  <h3>{key.name}</h3>
                  <p>
                    <span class="badge busy">{key.role}</span> {roleWords[key.role]}
                  </p>
                  <p class="soft small">
                    Made <Time at={key.createdAt} />
                    {key.expiresAt && (
                      <>
                        ; ends <Time at={key.expiresAt} distance />
                      </>
                    )}
                    ;{' '}
                    {key.lastUsedAt ? (
                      <>
                        last used <Time at={key.lastUsedAt} distance />
                      </>
                    ) : (
                      'never used'
                    )}
                  </p>
                  <p>
                    <button type="button" class="danger" onClick={() => (ended.value = key)}>
                      Delete<span class="unseen"> the key {key.name}</span>…
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Known>
      <Audit />
      {isAsked.value && (
        <NewKey
          at={at}
          onClose={() => (isAsked.value = false)}
          onMade={(key) => {
            isAsked.value = false;
            made.value = key;
          }}
        />
      )}
      {made.value && (
        <ShownOnce
          title={`The key ${made.value.name}`}
          secret={made.value.key}
          onClose={() => {
            made.value = undefined;
            keys.refresh();
          }}
        >
          <p>Give it to whoever is to have it, by a way that nobody else reads.</p>
        </ShownOnce>
      )}
      {ended.value && (
        <Confirm
          title={`Delete the key ${ended.value.name}?`}
          verb="Delete it"
          danger
          busy={deed.busy}
          refused={deed.refused}
          onClose={() => (ended.value = undefined)}
          onConfirm={() => ended.value && void end(ended.value)}
        >
          <p>It opens nothing any more, and sessions that it began end.</p>
        </Confirm>
      )}
    </Page>
  );
}

function NewKey({ at, onClose, onMade }: { at: string; onClose(): void; onMade(key: CreatedKey): void }) {
  const [name, role, days] = [useSignal(''), useSignal<string>('steer'), useSignal('0')];
  const deed = useDeed();
  const make = () =>
    deed.run(async () => {
      const expiresAt = days.value === '0' ? undefined : new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
      onMade(await ask<CreatedKey>('POST', at, { name: name.value, role: role.value, expiresAt }));
    }, 'The key is made.');
  return (
    <Confirm
      title="Make a key"
      verb="Make it"
      busy={deed.busy}
      refused={deed.refused}
      onClose={onClose}
      onConfirm={() => void make()}
    >
      <Entry label="Whose it is" hint="The audit says this name." of={name} required maxLength={200} />
      <Choice
        label="What it may do"
        of={role}
        options={Object.entries(roleWords).map(([value, words]) => [value, `${value}: ${words}`])}
      />
      <Choice label="It ends" of={days} options={expiries} />
    </Confirm>
  );
}

function Audit() {
  const { companyId, timeZone } = useCompany();
  const cursors = useSignal<string[]>([]);
  const audit = useResource<z.infer<typeof auditResponse>>(
    path`/admin/companies/${companyId}/audit` + query({ cursor: cursors.value.at(-1) }),
    seldom,
  );
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Who did what</h2>
      <Known of={audit}>
        {({ entries, nextCursor }) => (
          <>
            <table>
              <caption class="unseen">What was done, the newest first</caption>
              <thead>
                <tr>
                  <th scope="col">When ({timeZone})</th>
                  <th scope="col">Who</th>
                  <th scope="col">What</th>
                </tr>
              </thead>
              <tbody>
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
              </tbody>
            </table>
            {entries.length === 0 && <p class="card">Nothing was done yet.</p>}
            <Pager cursors={cursors} next={nextCursor} />
          </>
        )}
      </Known>
    </section>
  );
}

/** Ids and names; a chain and a rule lead to their pages. */
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
            {name}: {to ? <a href={to}>{text}</a> : text}{' '}
          </span>
        );
      })}
    </span>
  );
}

function actorWords(actor: z.infer<typeof auditResponse>['entries'][number]['actor']): string {
  if (actor.kind === 'link') return `the link of a notice to ${actor.contact}`;
  return actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`;
}
