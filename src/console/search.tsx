/** The search box and the keys. Search finds ids by their beginning, pages, and the buttons of the current page. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { co, pageOf, query, useAnswer } from './base.js';
import type { SearchResult } from './types.js';
import { Button, Dialog, FieldList } from './ui/index.js';

/** `key` follows the key `g`: `g n` opens Now. */
export type PageLink = { href: string; words: string; tab?: string | undefined; key?: string | undefined };

/** A link to a page, or a button that `press` presses. */
type Found = { kind: string; words: string; more?: string | undefined; href?: string; press?(): void };

const typingPauseMs = 60;
const goMs = 1500; // the second key must follow within this time

export function Search({ pages }: { pages: readonly PageLink[] }) {
  const shown = useSignal<'search' | 'keys' | undefined>(undefined);
  const { route } = useLocation();
  useEffect(() => {
    let goUntil = 0;
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      const opensAnywhere = key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      const types = target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [contenteditable]');
      if (!opensAnywhere && (types || event.ctrlKey || event.metaKey || event.altKey)) return;
      const page = Date.now() < goUntil && pages.find((page) => page.key === key);
      goUntil = key === 'g' ? Date.now() + goMs : 0;
      if (page) route(page.href);
      else if ((opensAnywhere && !document.querySelector('dialog[open]')) || key === '/') shown.value = 'search';
      else if (key === '?') shown.value = 'keys';
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [pages.map(({ href }) => href).join()]);
  const close = () => (shown.value = undefined);
  return (
    <>
      <Button class="quiet" data-icon="/" aria-keyshortcuts="/ Control+K Meta+K" onClick={() => (shown.value = 'search')}>
        Search <kbd>/</kbd>
      </Button>
      {shown.value === 'search' && <SearchBox pages={pages} onClose={close} />}
      {shown.value === 'keys' && <Keys pages={pages} onClose={close} />}
    </>
  );
}

const prompt = 'Number, rule or page';

/** The arrow keys move between the text field and the results. Enter in the text field opens the first result. */
function SearchBox({ pages, onClose }: { pages: readonly PageLink[]; onClose(): void }) {
  const form = useRef<HTMLFormElement>(null);
  const typed = useSignal('');
  const wanted = typed.value.trim().replace(/^(#|(assignment|ticket|chain|rule)\s+)(?=\S)/i, '');
  const asked = wanted ? co`/search` + query({ q: wanted }) : undefined;
  const { body, refused } = useAnswer<{ items: SearchResult[] }>('GET', asked, undefined, typingPauseMs);
  const ids = (asked && body?.items) || [];
  const matches = ({ words }: { words: string }) => words.toLowerCase().includes(wanted.toLowerCase());
  const found: Found[] = [
    ...ids.map(({ kind, id, name }) => ({ kind, words: name ? `${name} (${id})` : id, href: addresses[kind](id) })),
    ...pages.filter(matches).map(({ key, ...page }) => ({ ...page, kind: 'page', more: key && `g ${key}` })),
    ...(/^\d/.test(wanted) ? [] : buttonsOfPage().filter(matches)), // a number means an id
  ];
  const stops = () => [...(form.current?.querySelectorAll<HTMLElement>('input, a, button') ?? [])];
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return onClose(); // Without this, Escape would only empty the text field.
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    stops()[stops().indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  const openFirst = (event: Event) => {
    event.preventDefault();
    stops()[1]?.click();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <form ref={form} onSubmit={openFirst} onKeyDown={move}>
        <input
          {...{ type: 'search', 'aria-label': prompt, placeholder: prompt, autocomplete: 'off', spellcheck: false }}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
        <ul class="plain found" aria-label="Results">
          {found.map(({ kind, words, more, href, press }) => {
            const As = href ? 'a' : 'button';
            return (
              <li key={`${kind} ${words}`}>
                <As {...{ href, type: href ? undefined : 'button' }} onClick={() => [onClose(), press?.()]}>
                  <span class="soft small">{kind}:</span> {words} {more && <kbd>{more}</kbd>}
                </As>
              </li>
            );
          })}
        </ul>
      </form>
      {asked && refused && <p class="error">{refused.problem.detail}</p>}
      {found.length === 0 && <p class="soft">Nothing was found for “{wanted}”. Assignments are found after their first event.</p>}
    </Dialog>
  );
}

const addresses = { ...pageOf, ticket: (ticketId: string) => pageOf.chains({ ticketId }) };

/** The buttons of the page behind the dialog, except *Search* itself. */
function buttonsOfPage(): Found[] {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('header button[type="button"], main button[type="button"]')];
  return buttons
    .filter((button) => !button.closest('dialog') && !button.querySelector('kbd') && button.checkVisibility())
    .map((button) => ({ kind: 'button', words: button.textContent ?? '', press: () => button.click() }));
}

function Keys({ pages, onClose }: { pages: readonly PageLink[]; onClose(): void }) {
  const keys: [key: string, words: string][] = [
    ['/', 'Search (also Ctrl+K or ⌘K)'],
    ...pages.flatMap(({ key, words }) => (key ? [[`g ${key}`, words] as [string, string]] : [])),
    ['?', 'These shortcuts'],
    ['Esc', 'Close a dialog'],
  ];
  return (
    <Dialog title="Keyboard shortcuts" back="Close" onClose={onClose}>
      <FieldList fields={keys} />
    </Dialog>
  );
}
