/** The console: the frame around every page, and the routes. */

import { useSignal } from '@preact/signals';
import { type ComponentChildren, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import type { CompanyFacts } from '../contract/company.js';
import type { Role } from '../contract/credential.js';
import { pageOf, path } from './addresses.js';
import { sessionIsOver } from './api.js';
import { Page } from './frame.js';
import { Framed } from './header.js';
import { AssignmentPage } from './pages/assignment.js';
import { CausePage } from './pages/cause.js';
import { ChainPage } from './pages/chain.js';
import { ChainsPage } from './pages/chains.js';
import { CompaniesPage } from './pages/companies.js';
import { ComposePage } from './pages/compose.js';
import { NowPage } from './pages/now.js';
import { PeoplePage } from './pages/people.js';
import { RefusalPage, RefusedPage } from './pages/refused.js';
import { RulesPage } from './pages/rules.js';
import { SettingsPage } from './pages/settings.js';
import { seldom, useResource } from './resource.js';
import { CompanyContext, isOperator, may, type Session, session } from './session.js';
import { ProblemNote } from './ui/known.js';

interface PageOfCompany {
  /** The name in the navigation. Absent if only other pages link to this page. */
  name?: string;
  /** The page of the navigation to which this page belongs. */
  under?: string;
  /** The name among the pages of its place. */
  tab?: string;
  /** After the key `g`, this key opens the page. */
  key?: string;
  list?: () => ComponentChildren;
  item?: (item: string) => ComponentChildren;
  /** The pages of a part of the item, such as the versions of a rule. */
  parts?: Record<string, (item: string, id: string | undefined) => ComponentChildren>;
  needs?: Role;
}

/** @param key - must differ between pages. */
const later = (key: string, load: () => Promise<ComponentChildren>) => <Later key={key} load={load} />;
const rule = (relayId: string) =>
  later(relayId, () => import('./pages/rule.js').then(({ RulePage }) => <RulePage relayId={relayId} />));
const partsOfRule: PageOfCompany['parts'] = {
  draft: (relayId) =>
    may('author') &&
    later(`draft ${relayId}`, () => import('./pages/draft.js').then(({ DraftPage }) => <DraftPage relayId={relayId} />)),
  versions: (relayId) =>
    later(`versions ${relayId}`, () =>
      import('./pages/versions.js').then(({ VersionsPage }) => <VersionsPage relayId={relayId} />),
    ),
  events: (relayId, eventId) =>
    later(`events ${relayId} ${eventId}`, async () => {
      const { EventPage, EventsPage } = await import('./pages/rule-events.js');
      return eventId ? <EventPage relayId={relayId} eventId={eventId} /> : <EventsPage relayId={relayId} />;
    }),
};

const pages: Record<string, PageOfCompany> = {
  '': { name: 'Now', key: 'n', list: () => <NowPage /> },
  causes: { under: '', item: (causeId) => <CausePage key={causeId} causeId={causeId} /> },
  chains: {
    name: 'Chains',
    key: 'c',
    list: () => <ChainsPage />,
    item: (chainId) => <ChainPage key={chainId} chainId={chainId} />,
  },
  assignments: { under: 'chains', item: (assignmentId) => <AssignmentPage key={assignmentId} assignmentId={assignmentId} /> },
  refused: { name: 'Refused', key: 'f', list: () => <RefusedPage />, item: (id) => <RefusalPage key={id} rejectedId={id} /> },
  rules: { name: 'Rules', tab: 'All rules', key: 'r', list: () => <RulesPage />, item: rule, parts: partsOfRule },
  compose: { under: 'rules', tab: 'Write a rule', list: () => <ComposePage />, needs: 'author' },
  settings: { name: 'Company', tab: 'Settings', key: 's', list: () => <SettingsPage />, needs: 'manage' },
  people: { under: 'settings', tab: 'People and audit', key: 'p', list: () => <PeoplePage />, needs: 'manage' },
};

/** A page whose script is loaded when somebody opens it. Most visits do not need it. */
function Later({ load }: { load(): Promise<ComponentChildren> }) {
  const [loaded, failed] = [useSignal<ComponentChildren>(undefined), useSignal(false)];
  useEffect(() => {
    load().then(
      (page) => (loaded.value = page),
      () => (failed.value = true),
    );
  }, []);
  if (loaded.value) return loaded.value;
  return <Page title="Rule">{failed.value ? <p class="note bad">Reload this page: its script was not found.</p> : null}</Page>;
}

function Console() {
  const { path: here } = useLocation();
  const asked = useResource<Session>('/session', seldom);
  const known = asked.data.value;
  useEffect(() => {
    session.value = known;
  }, [known]);
  if (!session.value)
    return (
      <Framed>
        <Page title="Relay">
          <ProblemNote refused={asked.refused.value} />
        </Page>
      </Framed>
    );
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

/** The links of the header for a company's page. */
function framing({ companyId, name, webUi }: CompanyFacts, here: string) {
  const allowed = Object.entries(pages).filter(([, { needs }]) => !needs || may(needs));
  const place = pages[here]?.under ?? here;
  const linkTo = (page: string) => (page ? path`/companies/${companyId}/${page}` : pageOf.now(companyId));
  const link = ([page, { name = '', tab = name, key }]: (typeof allowed)[number], words: string, isHere: boolean) =>
    ({ href: linkTo(page), words: words || tab, key, isHere }) as const;
  const of = (page: string, { under = page }: PageOfCompany) => under === place;
  const group = allowed.filter(([page, known]) => known.tab && of(page, known));
  return {
    ...{ companyId, name, webUi },
    places: allowed.filter(([, { name }]) => name).map((known) => link(known, known[1].name ?? '', known[0] === place)),
    tabs: group.length > 1 ? group.map((known) => link(known, '', known[0] === here)) : [],
    more: allowed.flatMap((known) => (!known[1].name && known[1].list && !group.includes(known) ? [link(known, '', false)] : [])),
  };
}

function Companies() {
  return <Framed>{isOperator() ? <CompaniesPage /> : <Elsewhere />}</Framed>;
}

function Elsewhere() {
  const { companyId = '' } = session.value ?? {};
  return (
    <Page title="No access">
      <p>
        You are signed in to company <a href={pageOf.now(companyId)}>{companyId}</a>.
      </p>
    </Page>
  );
}

function Nowhere() {
  return (
    <Framed>
      <NoPage />
    </Framed>
  );
}

function NoPage() {
  return (
    <Page title="Page not found">
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </Page>
  );
}

type Place = { companyId: string; page?: string; item?: string; part?: string; id?: string };

function OfCompany(place: Place) {
  const { companyId } = place;
  const isOwn = isOperator() || session.value?.companyId === companyId;
  return isOwn ? <CompanyPages key={companyId} {...place} /> : <Framed>{<Elsewhere />}</Framed>;
}

function CompanyPages({ companyId, page = '', item, part, id }: Place) {
  const facts = useResource<CompanyFacts>(path`/co/${companyId}`, seldom);
  const known = facts.data.value;
  if (!known)
    return (
      <Framed>
        <Page title={companyId}>
          <ProblemNote refused={facts.refused.value} />
          {isOperator() && (
            <p>
              <a href={pageOf.companies()}>All companies</a>
            </p>
          )}
        </Page>
      </Framed>
    );
  const { list, item: one, parts, needs } = pages[page] ?? {};
  const shown = part ? item && parts?.[part]?.(item, id) : item ? one?.(item) : list?.();
  return (
    <CompanyContext.Provider value={{ ...known, refresh: facts.refresh }}>
      <Framed {...framing(known, page)}>
        {shown === undefined ? (
          <NoPage />
        ) : shown === false ? (
          <Page title="No access">
            <p>This page needs the role author.</p>
          </Page>
        ) : needs && !may(needs) ? (
          <Page title="No access">
            <p>This page needs the role {needs}.</p>
          </Page>
        ) : (
          shown
        )}
      </Framed>
    </CompanyContext.Provider>
  );
}

sessionIsOver.subscribe((isOver) => isOver && session.value === undefined && location.reload());

document.body.replaceChildren();
render(
  <LocationProvider scope="/companies">
    <Console />
  </LocationProvider>,
  document.body,
);
