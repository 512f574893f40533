/** The frame around every page: the header with the pages, search and pauses, and the footer. */

import type { ComponentChildren } from 'preact';
import type { CompanyFacts } from '../contract/company.js';
import { pageOf, query } from './addresses.js';
import { Announcer } from './frame.js';
import { PauseBanner, PauseButton } from './pauses.js';
import { type PageLink, Search } from './search.js';
import { isOperator, session } from './session.js';

interface FramedProps extends Partial<Pick<CompanyFacts, 'companyId' | 'name' | 'webUi'>> {
  places?: readonly (PageLink & { isHere: boolean })[];
  /** The pages of the current place, if it has several. */
  tabs?: readonly (PageLink & { isHere: boolean })[];
  /** Pages that only search and the keys open. */
  more?: readonly PageLink[];
  children: ComponentChildren;
}

export function Framed({ companyId, name, webUi, places = [], tabs = [], more = [], children }: FramedProps) {
  const { name: who, kind, role } = session.value ?? {};
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header>
        <div class="row spread">
          <a class="brand row" href={companyId ? pageOf.now(companyId) : '/'}>
            <Mark /> {name ?? 'Relay'}
          </a>
          {kind && (
            <div class="row">
              {companyId && <Search pages={[...places, ...tabs.filter(({ isHere }) => !isHere), ...more]} />}
              {companyId && <PauseButton />}
              <form method="post" action="/sign-out" class="row">
                <span class="soft small">
                  {who ?? kind}
                  {role && ` (${role})`}
                </span>
                <button type="submit" class="quiet">
                  Sign out
                </button>
              </form>
            </div>
          )}
        </div>
        <Places label="Pages" of={places} hasIcons />
        <Places label="Pages of this place" of={tabs} />
      </header>
      {companyId && <PauseBanner />}
      {children}
      <footer class="row soft small">
        {isOperator() && <a href={pageOf.companies()}>All companies</a>}
        <a href={`/docs${query({ companyId })}`}>API</a>
        {webUi && (
          <a href={webUi} target="_blank" rel="noreferrer">
            Open Temporal
          </a>
        )}
      </footer>
      <Announcer />
    </>
  );
}

function Places({ label, of, hasIcons }: { label: string; of: NonNullable<FramedProps['places']>; hasIcons?: true }) {
  if (of.length === 0) return null;
  return (
    <nav aria-label={label}>
      <ul>
        {of.map(({ href, words, key, isHere }) => (
          <li key={href}>
            <a href={href} data-icon={hasIcons ? key : undefined} aria-current={isHere ? 'page' : undefined}>
              {words}
            </a>
          </li>
        ))}
      </ul>
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
