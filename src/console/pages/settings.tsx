/** The company: settings and contacts, checks, and connections. Only operators change mail, limits and signed webhooks. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { StoredCompany } from '../../contract/company.js';
import type { noticeTestResponse } from '../../contract/notify.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { type CheckAnswer, CheckedLine, Connection, type SettingsProps } from '../connection.js';
import { changedIn, only, useForm } from '../form.js';
import { announce, Page } from '../frame.js';
import { MoreSettings } from '../more-settings.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Button, Submit, useDeed } from '../ui/buttons.js';
import { Entry, fieldsOf } from '../ui/fields.js';
import { Known, ProblemNote } from '../ui/known.js';
import { counted } from '../words.js';

export function SettingsPage() {
  const company = useCompany();
  const at = path`/admin/companies/${company.companyId}`;
  const settings = useResource<StoredCompany>(at, seldom);
  const saved = (stored: StoredCompany) => {
    settings.data.value = stored;
    company.refresh();
  };
  return (
    <Page title="Company" about={<code>{company.companyId}</code>}>
      <Known of={settings}>
        {(known) => (
          <>
            <h2>Settings</h2>
            <OwnSettings company={known} at={at} onSaved={saved} />
            <Check at={at} />
            <NoticeTest at={at} />
            <Connection section="platform" company={known} at={at} onSaved={saved} />
            <Connection section="ticketing" company={known} at={at} onSaved={saved} />
            <MoreSettings company={known} at={at} onSaved={saved} />
          </>
        )}
      </Known>
    </Page>
  );
}

function OwnSettings({ company, at, onSaved }: SettingsProps) {
  const deed = useDeed();
  const form = useForm();
  const save = async (event: Event) => {
    const changed = changedIn(event.currentTarget);
    const { name, timeZone, noticeLinks, noticeEdits, weeklyDigest, ...contacts } = fieldsOf(event);
    const switches = {
      noticeLinks: noticeLinks === 'on',
      noticeEdits: noticeEdits === 'on',
      weeklyDigest: weeklyDigest === 'on',
    };
    const own = only(changed, { name, timeZone: timeZone || null, ...switches });
    const patch = { ...own, notify: only(changed, notifyPatch(contacts)) };
    const saved = async () => onSaved(await ask<StoredCompany>('PATCH', at, patch));
    if (await deed.run(saved, 'Saved')) form.saved();
  };
  const { name, timeZone, notify, noticeLinks = true, noticeEdits = false, weeklyDigest = false } = company;
  return (
    <form class="card" onSubmit={(event) => void save(event)} ref={form.ref}>
      <Entry label="Name" name="name" required maxLength={200} defaultValue={name} />
      <Entry label="Time zone" hint="For example Europe/Berlin or +02:00." name="timeZone" defaultValue={timeZone} />
      <NotifyFields notify={notify} of="company" />
      <p>
        <label class="row">
          <input type="checkbox" name="noticeLinks" defaultChecked={noticeLinks} />
          Notices have links for decisions. Everybody who has a link can retry or skip the action, without a key.
        </label>
        <label class="row">
          <input type="checkbox" name="noticeEdits" defaultChecked={noticeEdits} />
          With the link, readers can also correct ids, the new value of a ticket field, and the radius.
        </label>
        <label class="row">
          <input type="checkbox" name="weeklyDigest" defaultChecked={weeklyDigest} />
          On Monday, the e-mail contacts of the company get a digest of the last week.
        </label>
      </p>
      <Submit {...deed} words="Save" />
    </form>
  );
}

const checkFields: [name: string, label: string, hint: string][] = [
  ['assignmentId', 'Assignment', 'The number of an existing assignment, if you know one.'],
  ['groups', 'Groups', 'Groups of workers that must exist, separated by commas.'],
  ['ticketId', 'Ticket', 'The number of an existing ticket, if you know one. The relay reads the ticket.'],
  ['fields', 'Ticket fields', 'Fields that must exist and must not be read only, separated by commas.'],
];

function Check({ at }: { at: string }) {
  const answer = useSignal<CheckAnswer | undefined>(undefined);
  const deed = useDeed();
  const check = async (event: Event) => {
    const { assignmentId, groups = '', ticketId, fields = '' } = fieldsOf(event);
    const listed = (text: string) => text.split(',').flatMap((name) => name.trim() || []);
    const ids = { assignmentId: assignmentId || undefined, ticketId: ticketId || undefined };
    const asked = { ...ids, groups: listed(groups), fields: listed(fields) };
    await deed.run(async () => {
      answer.value = await ask<CheckAnswer>('POST', `${at}/check`, asked);
      const broken = answer.value.checked.filter(({ works }) => !works).length;
      announce(broken === 0 ? 'All checks passed.' : `${counted(broken, 'check')} failed.`);
    });
  };
  return (
    <form class="card" onSubmit={(event) => void check(event)} aria-labelledby="check">
      <h2 id="check">Settings check</h2>
      <p class="soft">The check connects to every system. It sends no message and changes nothing.</p>
      {checkFields.map(([name, label, hint]) => (
        <Entry key={name} label={label} hint={hint} name={name} autocomplete="off" />
      ))}
      <p>
        <button type="submit" aria-disabled={deed.busy}>
          {deed.busy ? 'Checking…' : 'Check'}
        </button>
      </p>
      <ProblemNote refused={deed.refused} />
      <ul class="plain">
        {answer.value?.checked.map((checked) => (
          <li key={checked.part + checked.detail}>
            <CheckedLine of={checked} />
          </li>
        ))}
      </ul>
    </form>
  );
}

type Tested = z.infer<typeof noticeTestResponse>;

function NoticeTest({ at }: { at: string }) {
  const tested = useSignal<Tested | undefined>(undefined);
  const deed = useDeed();
  const test = () =>
    deed.run(async () => {
      tested.value = await ask<Tested>('POST', `${at}/notices/test`, {});
    }, 'Test notice sent.');
  return (
    <section class="card" aria-labelledby="test">
      <h2 id="test">Test notice</h2>
      <p class="row">
        <Button aria-disabled={deed.busy} onClick={() => void test()}>
          {deed.busy ? 'Sending…' : "Send a test to the company's contacts"}
        </Button>
      </p>
      <ProblemNote refused={deed.refused} />
      {tested.value?.contacts.length === 0 && (
        <p class="note bad">The company has no contacts. Its notices go to the contacts of rules, or to the operator.</p>
      )}
      <ul class="plain">
        {tested.value?.contacts.map(({ contact, delivered, error }) => (
          <li key={contact}>
            <span class={`badge ${delivered ? 'good' : 'bad'}`}>{delivered ? 'delivered' : 'not delivered'}</span> {contact}
            {error && `: ${error}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
