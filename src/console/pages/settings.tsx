/** The companies, and the settings of one company. Only operators change mail, limits and signed webhooks. */

import { useSignal } from '@preact/signals';
import { announce, ask, changedIn, only, pageOf, path, seldom, useCompany, useForm, usePages, useResource } from '../base.js';
import { CheckedLine, Connection, checkSettings, MoreSettings, type SettingsProps } from '../connection.js';
import { PageOf } from '../frame.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import type { Checked, companiesResponse, noticeTestResponse, StoredCompany, z } from '../types.js';
import { Badge, Button, Cards, FormFields, fieldsOf, ProblemNote, Section, Submit, useDeed } from '../ui/index.js';
import { counted } from '../words.js';

export function SettingsPage() {
  const { companyId } = useCompany();
  const at = path`/admin/companies/${companyId}`;
  const settings = useResource<StoredCompany>(at, seldom);
  const form = { at, onSaved: (stored: StoredCompany) => (settings.data.value = stored) };
  return (
    <PageOf title="Company" about={<code>{companyId}</code>} of={settings}>
      {(company) => (
        <>
          <OwnSettings company={company} {...form} />
          <SettingsCheck at={at} />
          <NoticeTest at={at} />
          <Connection section="platform" company={company} {...form} />
          <Connection section="ticketing" company={company} {...form} />
          <MoreSettings company={company} {...form} />
        </>
      )}
    </PageOf>
  );
}

const switches = {
  noticeLinks: 'Put links into notices. Everybody who has a link can retry or skip the step, without a sign-in.',
  noticeEdits:
    'Everybody who has a link can also correct the assignment number, the groups, the radius, the ticket, and the new value of a ticket field.',
  weeklyDigest: 'Every Monday, the e-mail contacts of the company get a summary of the last week.',
};

function OwnSettings({ company, at, onSaved }: SettingsProps) {
  const [deed, form] = [useDeed(), useForm()];
  const { name, timeZone, notify, noticeLinks = true, noticeEdits = false, weeklyDigest = false } = company;
  const areOn = Object.entries({ noticeLinks, noticeEdits, weeklyDigest });
  const checks = areOn.map(([name, checked]) => [name, { label: switches[name as keyof typeof switches], checked }]);
  const save = async (event: Event) => {
    const changed = changedIn(event.currentTarget);
    const { name, timeZone, ...given } = fieldsOf(event);
    const own = { name, timeZone: timeZone || null, ...Object.fromEntries(areOn.map(([name]) => [name, given[name] === 'on'])) };
    const patch = { ...only(changed, own), notify: only(changed, notifyPatch(given)) };
    if (await deed.run(async () => onSaved(await ask<StoredCompany>('PATCH', at, patch)), 'Saved')) form.saved();
  };
  const words = {
    name: { label: 'Name', required: true, maxLength: 200, first: name },
    timeZone: { label: 'Time zone', hint: 'For example Europe/Berlin or +02:00.', first: timeZone },
  };
  return (
    <form class="card" onSubmit={(event) => void save(event)} ref={form.ref} aria-labelledby="own">
      <h2 id="own">Settings</h2>
      <FormFields of={words} />
      <NotifyFields notify={notify} of="company" />
      <FormFields of={Object.fromEntries(checks)} />
      <Submit {...deed} words="Save" />
    </form>
  );
}

const typed = { autocomplete: 'off' } as const;
const checkFields = {
  assignmentId: { label: 'Assignment', hint: 'Optional: the number of an existing assignment, which the check reads.', ...typed },
  groups: { label: 'Groups', hint: 'Names or numbers, separated by commas. The check looks for these groups.', ...typed },
  ticketId: { label: 'Ticket', hint: 'Optional: the number of an existing ticket, which the check reads.', ...typed },
  fields: { label: 'Ticket fields', hint: 'Names, separated by commas. The check looks for these fields.', ...typed },
};

function SettingsCheck({ at }: { at: string }) {
  const checked = useSignal<Checked[]>([]);
  const deed = useDeed();
  const listed = (text = '') => text.split(',').flatMap((name) => name.trim() || []);
  const check = ({ assignmentId, groups, ticketId, fields }: Record<string, string>) =>
    deed.run(async () => {
      const ids = { assignmentId: assignmentId || undefined, ticketId: ticketId || undefined };
      checked.value = await checkSettings(at, { ...ids, groups: listed(groups), fields: listed(fields) });
      const broken = checked.value.filter(({ works }) => !works).length;
      announce(broken === 0 ? 'All checks passed.' : `${counted(broken, 'check')} failed.`);
    });
  return (
    <form class="card" onSubmit={(event) => void check(fieldsOf(event))} aria-labelledby="check">
      <h2 id="check">Settings check</h2>
      <p class="soft">The check connects to every system. It sends no message and changes nothing.</p>
      <FormFields of={checkFields} />
      <button type="submit" aria-disabled={deed.busy}>
        {deed.busy ? 'Checking…' : 'Check'}
      </button>
      <ProblemNote refused={deed.refused} />
      {checked.value.map((one) => (
        <CheckedLine key={one.part + one.detail} of={one} />
      ))}
    </form>
  );
}

function NoticeTest({ at }: { at: string }) {
  const tested = useSignal<z.infer<typeof noticeTestResponse> | undefined>(undefined);
  const deed = useDeed();
  const test = async () => (tested.value = await ask('POST', `${at}/notices/test`, {}));
  return (
    <Section title="Test notice">
      <Button aria-disabled={deed.busy} onClick={() => void deed.run(test, 'Test notice sent.')}>
        {deed.busy ? 'Sending…' : "Send a test to the company's contacts"}
      </Button>
      <ProblemNote refused={deed.refused} />
      {tested.value?.contacts.length === 0 && <p class="note bad">Nobody got the test, because the company has no contacts.</p>}
      {tested.value?.contacts.map(({ contact, delivered, error }) => (
        <p key={contact}>
          <Badge tone={delivered ? 'good' : 'bad'}>{delivered ? 'delivered' : 'not delivered'}</Badge> {contact}
          {error && `: ${error}`}
        </p>
      ))}
    </Section>
  );
}

const command = <code>npx relay companies set acme --name Acme --notify-email ops@acme.example</code>;
const empty = ['There are no companies yet. Create a company: ', command];

export function CompaniesPage() {
  const [companies] = usePages<z.infer<typeof companiesResponse>>('/admin/companies', seldom, '200');
  return (
    <PageOf title="Companies" of={companies}>
      {({ companies: known }) => (
        <Cards of={known} id={({ companyId }) => companyId} empty={empty}>
          {({ companyId, name, timeZone }) => (
            <>
              <h2>
                <a href={pageOf.now(companyId)}>{name}</a>
              </h2>
              <p class="soft small">
                <code>{companyId}</code>, {timeZone}
              </p>
            </>
          )}
        </Cards>
      )}
    </PageOf>
  );
}
