/** Tables, cards, and lists with pages. */

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { co, type Query, query } from '../base.js';
import { Button } from './dialog.js';

interface TableProps {
  caption: string;
  columns: readonly ComponentChildren[];
  look?: string;
  /** On phones, the cells of this column and of all later columns show the names of their columns. */
  named?: number;
  rows: readonly (readonly [key: string, cells: readonly ComponentChildren[]])[];
  /** The key of the row that is open beside the table. */
  open?: string | undefined;
  empty?: ComponentChildren;
}

/** A table. Only screen readers read its caption. */
export function Table({ caption, columns, look, named = 99, rows, open, empty }: TableProps) {
  if (rows.length === 0 && empty) return <p class="card">{empty}</p>;
  return (
    <table class={look}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col">{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([key, cells]) => (
          <tr key={key} aria-current={key === open ? 'true' : undefined}>
            {cells.map((cell, place) => (
              <td data-label={place >= named && typeof columns[place] === 'string' ? columns[place] : undefined}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type SectionProps = { title: ComponentChildren; look?: string; id?: string; children: ComponentChildren };

/** A part of a page with a heading. By default a card. */
export function Section({ title, look = 'card', id, children }: SectionProps) {
  const made = useId();
  return (
    <section class={look} aria-labelledby={id ?? made}>
      <h2 id={id ?? made}>{title}</h2>
      {children}
    </section>
  );
}

interface CardsProps<Item> {
  of: readonly Item[];
  id(item: Item): string;
  empty: ComponentChildren;
  /** One card a row. */
  isTall?: boolean;
  children(item: Item): ComponentChildren;
}

export function Cards<Item>({ of, id, empty, isTall, children }: CardsProps<Item>) {
  if (of.length === 0) return <p class="card">{empty}</p>;
  return (
    <ul class={isTall ? 'plain' : 'plain cards'}>
      {of.map((item) => (
        <li key={id(item)} class="card">
          {children(item)}
        </li>
      ))}
    </ul>
  );
}

/** @param cursors - the cursors of all pages up to this page. */
export function Pager({ cursors, next }: { cursors: Signal<string[]> | undefined; next: string | undefined }) {
  const earlier = cursors && cursors.value.length > 0;
  if (!cursors || (!earlier && !next)) return null;
  return (
    <nav aria-label="Pages of the list" class="row">
      {earlier && <Button onClick={() => (cursors.value = cursors.value.slice(0, -1))}>Back</Button>}
      {next && <Button onClick={() => (cursors.value = [...cursors.value, next])}>More</Button>}
    </nav>
  );
}

/** A row of links. `of` has the address for each text. A text without an address is not shown. */
export function LinkRow({ of }: { of: Readonly<Record<string, string | false>> }) {
  return <p class="row">{Object.entries(of).map(([words, href]) => href && <a href={href}>{words}</a>)}</p>;
}

export function ExportLinks({ what, filter = {} }: { what: 'chains' | 'events' | 'audit'; filter?: Query }) {
  return (
    <p class="row soft small">
      Export the whole list:
      {(['sheet', 'ndjson'] as const).map((format) => (
        <a key={format} href={co`/export/${what}` + query({ ...filter, format })} download>
          {format === 'sheet' ? 'as a spreadsheet (CSV)' : 'as data for programs (NDJSON)'}
        </a>
      ))}
    </p>
  );
}
