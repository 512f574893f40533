/**
 * The simulators of `npm start`. They share the address of the demo platform, because no two vendors have the same paths. Their
 * state is in memory. The page `/vendors` shows their records and sets their failures.
 */

import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Html } from '../../api/page.js';
import { type Kind, platformKinds, ticketingKinds } from '../../chain/kinds.js';
import { capital } from '../../chain/text.js';
import type { Simulators } from '../../contract/company.js';
import { faultCard, faultRoutes } from '../fault.js';
import { sendPage } from '../page.js';
import type { VendorRecord } from './records.js';
import { commonFailures, type Vendor, type VendorState } from './vendor.js';

const kinds: Readonly<Record<string, Kind>> = { ...ticketingKinds, ...platformKinds };

/** For each kind, such as `jira`, the file with its name exports a function such as `createJira`. */
const creatorOf = async (kind: string): Promise<() => Vendor<VendorState>> =>
  (await import(`./${kind}.js`))[`create${capital(kind)}`];
const creators = await Promise.all(Object.keys(kinds).map(creatorOf));

const settingsFor = ({ kind, settings }: Vendor<VendorState>, baseUrl: string) => {
  return { [kind in platformKinds ? 'platform' : 'ticketing']: { kind, ...settings, baseUrl } };
};

/** Returns, for each kind, the settings that connect a company to its simulator at `baseUrl`. */
export function vendorSettings(baseUrl: string): Record<string, ReturnType<typeof settingsFor>> {
  const vendors = creators.map((create) => create());
  return Object.fromEntries(vendors.map((vendor) => [vendor.kind, settingsFor(vendor, baseUrl)]));
}

/** What the console offers to connect: the simulators, and the demo platform, which also is a ticket system. */
export function simulatorsAt(baseUrl: string): Simulators {
  const settings = { kind: 'http', baseUrl };
  const of = (section: 'platform' | 'ticketing') =>
    Object.entries(vendorSettings(baseUrl)).flatMap(([kind, { [section]: own }]) => {
      return own ? [{ name: kinds[kind]?.name ?? kind, settings: own }] : [];
    });
  return {
    platform: [{ name: 'Demo platform', settings }, ...of('platform')],
    ticketing: [{ name: 'Demo ticket system', settings }, ...of('ticketing')],
  };
}

export function vendorSimulators() {
  const simulators = creators.map((create) => simulated(create()));
  const routes = new Hono<{ Bindings: HttpBindings }>().use((c, next) => {
    const simulator = simulators.find(({ vendor }) => vendor.paths.test(c.req.path));
    return simulator ? Promise.resolve(simulator.vendor.app.fetch(c.req.raw, c.env)) : next();
  });
  for (const { vendor, faults } of simulators) routes.route(`/vendors/${vendor.kind}`, faults);
  routes.get('/vendors', (c) => {
    const main = html`${simulators.map(({ part }) => part(new URL(c.req.url).origin))}`;
    return sendPage(c, { title: 'Simulators of vendors', header, main, live: true });
  });
  return { routes, release: () => simulators.forEach(({ vendor }) => void vendor.faults.release()) };
}

const header = html`<h1>Simulators of vendors</h1>
<p class="soft">These programs answer as the vendors' documentation says. Nothing here is real, and a restart forgets all changes.
The <a href="/">demo platform</a> has a page of its own.</p>`;

function simulated(vendor: Vendor<VendorState>) {
  const { kind, faults, records } = vendor;
  const { name = kind } = kinds[kind] ?? {};
  const at = `/vendors/${kind}`;
  const failures = [...faults.names, ...commonFailures];
  const part = (origin: string): Html => html`<h2 id="${kind}">${name}</h2>${faultCard(faults)}
<form method="post" action="${at}/page/fail" class="row small"><label>Failure <select name="failure">
${failures.map((failure) => html`<option value="${JSON.stringify({ name: failure })}">${failure}</option>`)}</select></label>
<button>Let ${name} fail</button><button formaction="${at}/page/heal">Stop failing</button></form>
<details><summary>Settings of a company for ${name}</summary><pre class="card">${JSON.stringify(settingsFor(vendor, origin), undefined, 2)}</pre></details>
<div class="cards">${records().map(recordCard)}</div>`;
  return { vendor, part, faults: faultRoutes(faults, { failures }, '/vendors') };
}

function recordCard({ id, title, fields }: VendorRecord): Html {
  const filled = Object.entries(fields).filter(([, value]) => value !== null && value !== '');
  return html`<section class="card"><h3>${id} · ${title}</h3><ul>${filled.map(
    ([name, value]) =>
      html`<li><span class="soft">${name}:</span> ${typeof value === 'string' ? value : JSON.stringify(value)}</li>`,
  )}</ul></section>`;
}
