/** The frame around every page: the header with the pages, search and pauses, and the footer. */

import type { ComponentChildren } from 'preact';
import { isOperator, pageOf, query, said, session } from './base.js';
import { PauseBanner, PauseButton } from './pauses.js';
import { type PageLink, Search } from './search.js';
import type { CompanyFacts } from './types.js';

interface Place extends PageLink {
  /** One of the places of the navigation. All other pages are tabs of a place. */
  isPlace: boolean;
  /** Belongs to the current place. */
  isTab: boolean;
  current?: 'page' | 'true' | undefined;
}

interface FramedProps {
  company?: CompanyFacts;
  places?: readonly Place[];
  children: ComponentChildren;
}

export function Framed({ company, places = [], children }: FramedProps) {
  const { name: who, kind, role } = session.value ?? {};
  const companyId = company?.companyId;
  const tabs = places.filter(({ isTab }) => isTab);
  return (
    <>
      <a class="unseen" href="#content">
        Skip to content
      </a>
      <header>
        <div class="row spread">
          <a class="brand row" href={companyId ? pageOf.now(companyId) : '/'}>
            <Mark /> {company?.name ?? 'Relay'}
          </a>
          {kind && (
            <div class="row">
              {company && <Search pages={places} />}
              {company && <PauseButton />}
              <form method="post" action="/sign-out" class="row">
                <span class="soft small">{[who ?? kind, role && `(${role})`].filter(Boolean).join(' ')}</span>
                <button type="submit" class="quiet">
                  Sign out
                </button>
              </form>
            </div>
          )}
        </div>
        <Links label="Pages" of={places.filter(({ isPlace }) => isPlace)} hasIcons />
        {tabs.length > 1 && <Links label="Pages of this place" of={tabs} />}
      </header>
      {company && <PauseBanner />}
      {children}
      <footer class="row soft small">
        {isOperator() && <a href={pageOf.companies()}>All companies</a>}
        <a href={`/docs${query({ companyId })}`}>API</a>
        {company?.webUi && (
          <a href={company.webUi} target="_blank" rel="noreferrer">
            Open Temporal
          </a>
        )}
      </footer>
      <p role="status" class={said.value ? 'note said' : 'unseen'}>
        {said}
      </p>
    </>
  );
}

function Links({ label, of, hasIcons }: { label: string; of: readonly Place[]; hasIcons?: true }) {
  return (
    <nav class="tabs" aria-label={label}>
      {of.map(({ href, words, tab, key, current }) => (
        <a key={href} href={href} data-icon={hasIcons && key} aria-current={hasIcons || current === 'page' ? current : undefined}>
          {hasIcons ? words : (tab ?? words)}
        </a>
      ))}
    </nav>
  );
}

/** A baton between two dots: the relay passes an assignment on. */
function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d="M5 17 19 7" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
      <circle cx="5" cy="17" r="4" class="mark" />
      <circle cx="19" cy="7" r="4" class="mark" />
    </svg>
  );
}
