import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fields, furtherColumns, table } from '../../src/cli/table.js';
import { render } from '../../src/cli/text.js';

const texts = (lines: ReturnType<typeof table>) => lines.map((line) => render(line, false));

describe('tables', () => {
  const columns = { NAME: 'name', N: ({ n }: { name: string; n: number }) => String(n) } as const;
  const items = [
    { name: '東京', n: 1 },
    { name: 'a\u001bb', n: 22 },
    { name: 'Zürich', n: 3 },
  ];

  it('are aligned, whatever is in them', () => {
    assert.deepEqual(texts(table(items, columns, undefined)), ['NAME    N', '東京    1', 'a b     22', 'Zürich  3']);
  });

  it('are cut at the width of the terminal', () => {
    assert.deepEqual(texts(table(items, columns, 5)), ['NAME…', '東京…', 'a b …', 'Züri…']);
  });

  it('show further fields of a newer API', () => {
    const newer = [
      { id: '1', closedAt: 'x', links: { a: 1 } },
      { id: '2', assignmentIds: ['7', '8'] },
    ];
    assert.deepEqual(texts(table(newer, furtherColumns(newer, ['id']), undefined)), [
      'CLOSED AT  ASSIGNMENT IDS',
      'x',
      '           7, 8',
    ]);
  });

  it('show a single thing by names', () => {
    const lines = fields({
      name: 'Acme',
      notify: { emails: ['a@x.org', 'b@x.org'] },
      on: true,
      list: [{ a: 1 }],
      no: null,
      not: undefined,
    });
    assert.deepEqual(texts(lines), [
      'name           Acme',
      'notify.emails  a@x.org, b@x.org',
      'on             true',
      'list[0].a      1',
      'no',
    ]);
  });
});
