/** Tables, and lists with pages. */

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button } from './buttons.js';

interface TableProps {
  /** Only screen readers read the caption. */
  caption: string;
  columns: readonly ComponentChildren[];
  look?: string;
  /** The rows. */
  children: ComponentChildren;
}

export function Table({ caption, columns, look, children }: TableProps) {
  return (
    <table class={look}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, place) => (
            <th key={place} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** @param cursors - the cursors of all pages up to this page. The first page has no cursor. */
export function Pager({ cursors, next }: { cursors: Signal<string[]>; next: string | undefined }) {
  const earlier = cursors.value.length > 0;
  if (!earlier && !next) return null;
  return (
    <nav aria-label="Pages of the list" class="row">
      {earlier && <Button onClick={() => (cursors.value = cursors.value.slice(0, -1))}>Back</Button>}
      {next && <Button onClick={() => (cursors.value = [...cursors.value, next])}>More</Button>}
    </nav>
  );
}
