/** A page: its heading takes the focus after navigation. The content of most pages is one answer of the API. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Resource } from './base.js';
import { Known, Pager, SessionIsOver, UpToDate } from './ui/index.js';

/** The path of the last page, and whether the user has gone from one page to another since the console was loaded. */
let [shownAt, hasGone]: [string | undefined, boolean] = [undefined, false];

interface PageProps {
  title: string;
  about?: ComponentChildren;
  children?: ComponentChildren;
}

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
