/** The frame around every page: the header with the pages, search and pauses, and the footer. And the heading of a page. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isOperator, isShown, pageOf, query, type Resource, said, session } from './base.js';
import { PauseBanner, PauseButton } from './pauses.js';
import { type PageLink, Search } from './search.js';
import type { CompanyFacts } from './types.js';
import { Button, InTemporal, Known, Pager, SessionIsOver, UpToDate } from './ui/index.js';
import { signedInWords } from './words.js';

/** The path of the last page, and whether the user has gone from one page to another since the console was loaded. */
let [shownAt, hasGone]: [string | undefined, boolean] = [undefined, false];

type PageProps = { title: string; about?: ComponentChildren; children?: ComponentChildren };

export function Page({ title, about, children }: PageProps) {
  const { path } = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isNew = shownAt !== undefined && path !== shownAt;
    [shownAt, hasGone] = [path, hasGone || isNew];
    // If the focused heading of a loading page disappears, the browser moves the focus to the body.
    if (isNew || (hasGone && document.activeElement === document.body)) heading.current?.focus();
  }, [path]);
  useEffect(() => {
    document.title = `${title} · Relay`;
  }, [title]);
  return (
    <main id="content">
      <SessionIsOver />
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {about && <div class="soft">{about}</div>}
      {children}
    </main>
  );
}

type PageOfProps<Body> = Omit<PageProps, 'children'> & { of: Resource<Body>; children(body: Body): ComponentChildren };

/** A page that shows one answer of the API, or one page of a list. */
export function PageOf<Body>({ of, children, ...page }: PageOfProps<Body>) {
  const { nextCursor } = (of.data.value ?? {}) as { nextCursor?: string };
  return (
    <Page {...page}>
      <Known of={of}>{children}</Known>
      <Pager cursors={of.cursors} next={nextCursor} />
      <UpToDate of={of} />
    </Page>
  );
}

/** `isPlace`: the page is in the first row of the navigation. `isTab`: the page is in the second row. */
type Place = PageLink & { isPlace: boolean; isTab: boolean; current?: 'page' | 'true' | undefined };
type FramedProps = { company?: CompanyFacts; places?: readonly Place[]; children: ComponentChildren };

export function Framed({ company, places = [], children }: FramedProps) {
  const who = session.value;
  const tabs = places.filter(({ isTab }) => isTab);
  return (
    <>
      <a class="unseen" href="#content">
        Skip to content
      </a>
      <header>
        <div class="row spread">
          <a class="brand row" href={company ? pageOf.now(company.companyId) : '/'}>
            <Mark /> {company?.name ?? 'Relay'}
          </a>
          {who && (
            <div class="row">
              {company && <Search pages={places} />}
              {company && <PauseButton />}
              <form method="post" action="/sign-out" class="row">
                <span class="soft small">{signedInWords(who)}</span>
                <Button {...{ type: 'submit', class: 'quiet' }}>Sign out</Button>
              </form>
            </div>
          )}
        </div>
        <Links label="Pages" of={places.filter(({ isPlace }) => isPlace)} hasIcons />
        {tabs.length > 1 && <Links label="Pages of this section" of={tabs} />}
      </header>
      {company && <PauseBanner />}
      {children}
      <footer class="row soft small">
        {isOperator() && <a href="/companies">All companies</a>}
        <a href={`/docs${query({ companyId: company?.companyId })}`}>For programmers</a>
        <InTemporal at={company?.webUi} words="Temporal Web UI (for operators)" />
        {company && <span class="keys">Press ? for keyboard shortcuts</span>}
      </footer>
      <p {...{ role: 'status', class: said.value && isShown.value ? 'note said' : 'unseen' }}>{said}</p>
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

const dot = { r: 4, fill: 'var(--page)', stroke: 'var(--accent)', 'stroke-width': 2.5 };

/** A baton between two dots: the relay passes an assignment on. */
function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d="M5 17 19 7" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
      <circle {...{ ...dot, cx: 5, cy: 17 }} />
      <circle {...{ ...dot, cx: 19, cy: 7 }} />
    </svg>
  );
}
