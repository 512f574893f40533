/** The console: the routes, and the frame around every page. */

import { useSignal } from '@preact/signals';
import { type ComponentChildren, type ComponentType, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { openCompany, pageOf, path } from './addresses.js';
import { CompanyContext, isOperator, may, type Session, seldom, session, sessionIsOver, useResource } from './base.js';
import { Framed, Page } from './frame.js';
import { AssignmentPage } from './pages/assignment.js';
import { CausePage } from './pages/cause.js';
import { ChainPage } from './pages/chain.js';
import { ChainsPage } from './pages/chains.js';
import { NowPage } from './pages/now.js';
import { RefusalPage, RefusedPage } from './pages/refused.js';
import { ComposePage, RulesPage } from './pages/rules.js';
import type { CompanyFacts, Role } from './types.js';
import { ProblemNote } from './ui/index.js';
import { roleName } from './words.js';

interface PageOfCompany {
  /** The name of a list. Only lists are in the navigation and in search. */
  name?: string;
  /** The page in the first row of the navigation to which this page belongs. By default, this page itself is in that row. */
  under?: string;
  /** The name in the second row of the navigation. */
  tab?: string;
  /** After the key `g`, this key opens the page. */
  key?: string;
  needs?: Role;
  list?: ComponentType;
  /** @param part - the id of a part of the item, such as an event of a rule. */
  item?(item: string, part?: string): ComponentChildren;
}

type OfRule = ComponentType<{ relayId: string; eventId: string }>;

const later =
  (load: (eventId: string) => Promise<OfRule>, title = 'Rule') =>
  (relayId = '', eventId = '') => <Later {...{ title, load, relayId, eventId }} />;

const rulePage = async () => (await import('./pages/rule.js')).RulePage;
const draftPage = async () => (await import('./composer/composer.js')).DraftPage;
const versionsPage = async () => (await import('./pages/versions.js')).VersionsPage;
const eventsPage = async (eventId: string) => (await import('./pages/rule-events.js'))[eventId ? 'EventPage' : 'EventsPage'];

const settingsPage = async () => (await import('./pages/settings.js')).SettingsPage;
const companiesPage = later(async () => (await import('./pages/settings.js')).CompaniesPage, 'Companies');
const peoplePage = async () => (await import('./pages/people.js')).PeoplePage;
const people = 'People and changes';

/** The pages, by their address after the company. `rules/draft` is the page with the address `rules/<id>/draft`. */
const pages: Record<string, PageOfCompany> = {
  '': { name: 'Now', key: 'n', list: NowPage },
  causes: { under: '', item: (causeId) => <CausePage causeId={causeId} /> },
  chains: { name: 'Chains', key: 'c', list: ChainsPage, item: (chainId) => <ChainPage chainId={chainId} /> },
  assignments: { under: 'chains', item: (assignmentId) => <AssignmentPage assignmentId={assignmentId} /> },
  refused: { name: 'Refused requests', key: 'f', list: RefusedPage, item: (id) => <RefusalPage rejectedId={id} /> },
  rules: { name: 'Rules', tab: 'All rules', key: 'r', list: RulesPage, item: later(rulePage) },
  'rules/draft': { under: 'rules', needs: 'author', item: later(draftPage) },
  'rules/versions': { under: 'rules', item: later(versionsPage) },
  'rules/events': { under: 'rules', item: later(eventsPage) },
  compose: { under: 'rules', name: 'Write a rule', list: ComposePage, needs: 'author' },
  settings: { name: 'Company', tab: 'Settings', key: 's', list: () => later(settingsPage, 'Company')(), needs: 'manage' },
  people: { under: 'settings', name: people, key: 'p', list: () => later(peoplePage, people)(), needs: 'manage' },
};

/** A page with a script of its own. The browser loads the script when somebody opens the page. */
function Later({
  title,
  load,
  ...of
}: {
  title: string;
  load(eventId: string): Promise<OfRule>;
  relayId: string;
  eventId: string;
}) {
  const [loaded, hasFailed] = [useSignal<{ Shown: OfRule } | undefined>(undefined), useSignal(false)];
  useEffect(() => {
    load(of.eventId).then(
      (Shown) => (loaded.value = { Shown }),
      () => (hasFailed.value = true),
    );
  }, []);
  if (loaded.value) return <loaded.value.Shown {...of} />;
  return told(title, hasFailed.value && <p class="note bad">This page did not load completely. Reload it.</p>);
}

function Console() {
  const { path: here } = useLocation();
  const asked = useResource<Session>('/session', seldom);
  const known = asked.data.value;
  useEffect(() => {
    session.value = known;
  }, [known]);
  if (!session.value) return <Framed>{told('Relay', <ProblemNote refused={asked.refused.value} />)}</Framed>;
  if (!isReadable(here)) return <Nowhere />;
  return (
    <Router>
      <Route path="/companies" component={Companies} />
      <Route path="/companies/:companyId/:page?/:item?/:part?/:id?" component={OfCompany} />
      <Route default component={Nowhere} />
    </Router>
  );
}

/** Whether the percent-encoding of the address is valid. If it is invalid, the router renders nothing. */
function isReadable(address: string): boolean {
  try {
    return decodeURIComponent(address) !== '';
  } catch {
    return false;
  }
}

function placesOf({ companyId }: CompanyFacts, here: string) {
  const place = pages[here]?.under ?? here;
  return Object.entries(pages).flatMap(([page, { name, tab, key, under, needs }]) => {
    if (!name || (needs && !may(needs))) return [];
    const href = page ? path`/companies/${companyId}/${page}` : pageOf.now(companyId);
    const [isPlace, isTab] = [under === undefined, (under ?? page) === place];
    const current = page === here ? 'page' : isPlace && isTab ? 'true' : undefined;
    return [{ href, words: name, tab, key, isPlace, isTab, current } as const];
  });
}

const told = (title: string, words: ComponentChildren) => <Page title={title}>{words}</Page>;
const noPage = told('Page not found', <a href="/">Go to the start page</a>);
const Nowhere = () => <Framed>{noPage}</Framed>;
const Companies = () => <Framed>{isOperator() ? companiesPage() : elsewhere()}</Framed>;

function elsewhere() {
  const { companyId = '' } = session.value ?? {};
  const own = <a href={pageOf.now(companyId)}>{companyId}</a>;
  return told('No access', <>You only have access to company {own}.</>);
}

type Place = { companyId: string; page?: string; item?: string; part?: string; id?: string };

function OfCompany(place: Place) {
  const { companyId } = place;
  const isOwn = isOperator() || session.value?.companyId === companyId;
  return isOwn ? <CompanyPages key={companyId} {...place} /> : <Framed>{elsewhere()}</Framed>;
}

function CompanyPages({ companyId, page = '', ...of }: Place) {
  openCompany(companyId);
  const facts = useResource<CompanyFacts>(path`/co/${companyId}`, seldom);
  const known = facts.data.value;
  if (!known) return <Framed>{told(companyId, <ProblemNote refused={facts.refused.value} />)}</Framed>;
  return (
    <CompanyContext.Provider value={known}>
      <Framed company={known} places={placesOf(known, page)}>
        <Shown key={[page, of.item, of.part, of.id].join('/')} page={page} {...of} />
      </Framed>
    </CompanyContext.Provider>
  );
}

function Shown({ page = '', item, part, id }: Omit<Place, 'companyId'>) {
  const { list: List, item: one, needs } = pages[part ? `${page}/${part}` : page] ?? {};
  if (needs && !may(needs)) return told('No access', `To see this page, you need the role “${roleName(needs)}”.`);
  if (item) return one ? one(item, id) : noPage;
  return List ? <List /> : noPage;
}

sessionIsOver.subscribe((isOver) => isOver && session.value === undefined && location.reload());

document.body.replaceChildren();
render(
  <LocationProvider scope="/companies">
    <Console />
  </LocationProvider>,
  document.body,
);
