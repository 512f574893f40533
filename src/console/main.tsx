/** The console: the frame around every page, and which page an address shows. */

import { type ComponentChildren, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import type { CompanyFacts } from '../contract/company.js';
import type { Role } from '../contract/credential.js';
import { pageOf, path } from './addresses.js';
import { sessionIsOver } from './api.js';
import { Announcer, Page } from './frame.js';
import { AssignmentPage } from './pages/assignment.js';
import { CausePage } from './pages/cause.js';
import { ChainPage } from './pages/chain.js';
import { ChainsPage } from './pages/chains.js';
import { CompaniesPage } from './pages/companies.js';
import { ComposePage } from './pages/compose.js';
import { NowPage } from './pages/now.js';
import { PeoplePage } from './pages/people.js';
import { RefusalPage, RefusedPage } from './pages/refused.js';
import { RulePage } from './pages/rule.js';
import { RulesPage } from './pages/rules.js';
import { SettingsPage } from './pages/settings.js';
import { ProblemNote } from './parts.js';
import { seldom, useResource } from './resource.js';
import { CompanyContext, isOperator, may, type Session, session } from './session.js';

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
      <Route path="/companies/:companyId/:page?/:item?" component={OfCompany} />
      <Route default component={Nowhere} />
    </Router>
  );
}

/** Of what is not, the router would make nothing at all. */
function isReadable(address: string): boolean {
  try {
    return decodeURIComponent(address) !== '';
  } catch {
    return false;
  }
}

interface FramedProps {
  companyId?: string;
  name?: string;
  webUi?: string;
  children: ComponentChildren;
}

function Framed({ companyId, name, webUi, children }: FramedProps) {
  const { path: here } = useLocation();
  const { name: who, kind } = session.value ?? {};
  const links: [href: string, words: string][] = companyId
    ? [
        [pageOf.now(companyId), 'Now'],
        [pageOf.chains(companyId), 'Chains'],
        [pageOf.refused(companyId), 'Refused'],
        ...(may('steer') ? ([[pageOf.compose(companyId), 'Compose']] as [string, string][]) : []),
        ...(may('manage')
          ? ([
              [pageOf.rules(companyId), 'Rules'],
              [pageOf.settings(companyId), 'Company'],
              [pageOf.people(companyId), 'People and audit'],
            ] as [string, string][])
          : []),
        ...(isOperator() ? ([[pageOf.companies(), 'All companies']] as [string, string][]) : []),
      ]
    : [];
  /** Also a page about one thing is of its list's; Now and the list of companies have none below them. */
  const isHere = (href: string) => here === href || (href.split('/').length > 3 && here.startsWith(`${href}/`));
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header>
        <div class="row spread">
          <a class="brand" href={companyId ? pageOf.now(companyId) : '/'}>
            {name ?? 'Relay'}
          </a>
          {kind && (
            <form method="post" action="/sign-out" class="row">
              <span class="soft small">{who ?? kind}</span>
              <button type="submit">Sign out</button>
            </form>
          )}
        </div>
        {links.length > 0 && (
          <nav aria-label="Pages">
            <ul>
              {links.map(([href, words]) => (
                <li key={href}>
                  <a href={href} aria-current={isHere(href) ? 'page' : undefined}>
                    {words}
                  </a>
                </li>
              ))}
              {webUi && (
                <li>
                  <a href={webUi} target="_blank" rel="noreferrer">
                    In Temporal
                  </a>
                </li>
              )}
            </ul>
          </nav>
        )}
      </header>
      {children}
      <Announcer />
    </>
  );
}

function Companies() {
  return <Framed>{isOperator() ? <CompaniesPage /> : <Elsewhere />}</Framed>;
}

/** A key is of one company. */
function Elsewhere() {
  const { companyId = '' } = session.value ?? {};
  return (
    <Page title="Not yours to see">
      <p>
        Your key is of company <a href={pageOf.now(companyId)}>{companyId}</a>.
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
    <Page title="There is no such page">
      <p>
        <a href="/">To the beginning</a>
      </p>
    </Page>
  );
}

const pages: Record<string, { list?: () => ComponentChildren; item?: (item: string) => ComponentChildren; needs?: Role }> = {
  '': { list: () => <NowPage /> },
  causes: { item: (causeId) => <CausePage key={causeId} causeId={causeId} /> },
  chains: { list: () => <ChainsPage />, item: (chainId) => <ChainPage key={chainId} chainId={chainId} /> },
  assignments: { item: (assignmentId) => <AssignmentPage key={assignmentId} assignmentId={assignmentId} /> },
  refused: { list: () => <RefusedPage />, item: (rejectedId) => <RefusalPage key={rejectedId} rejectedId={rejectedId} /> },
  compose: { list: () => <ComposePage />, needs: 'steer' },
  rules: { list: () => <RulesPage />, item: (relayId) => <RulePage key={relayId} relayId={relayId} />, needs: 'manage' },
  settings: { list: () => <SettingsPage />, needs: 'manage' },
  people: { list: () => <PeoplePage />, needs: 'manage' },
};

function OfCompany({ companyId, page = '', item }: { companyId: string; page?: string; item?: string }) {
  const isOwn = isOperator() || session.value?.companyId === companyId;
  return isOwn ? (
    <CompanyPages key={companyId} companyId={companyId} page={page} item={item} />
  ) : (
    <Framed>{<Elsewhere />}</Framed>
  );
}

function CompanyPages({ companyId, page, item }: { companyId: string; page: string; item: string | undefined }) {
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
  const { list, item: one, needs } = pages[page] ?? {};
  const shown = item === undefined || item === '' ? list?.() : one?.(item);
  return (
    <CompanyContext.Provider value={{ ...known, refresh: facts.refresh }}>
      <Framed companyId={companyId} name={known.name} webUi={known.webUi}>
        {shown === undefined ? (
          <NoPage />
        ) : needs && !may(needs) ? (
          <Page title="Not yours to see">
            <p>This needs a key with the role {needs}.</p>
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
