import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cut, fields, harmless, render, table, widthOf } from '../../../src/cli/text.js';

describe('text for a terminal', () => {
  it('cannot control the terminal', () => {
    for (const [given, expected] of [
      ['plain', 'plain'],
      ['a\nb\tc', 'a b c'],
      ['\u001b[2J\u001b]0;title\u0007x', ' [2J ]0;title x'],
      ['c1 \u009b31m', 'c1  31m'],
      ['line\u2028separator', 'line separator'],
      ['evil\u202etxt.exe', 'eviltxt.exe'],
    ] as const)
      assert.equal(harmless(given), expected);
    assert.equal(render([{ text: '\u001b[31mx', tone: 'good' }], true), '\u001b[32m [31mx\u001b[0m');
    assert.equal(render([{ text: 'x', tone: 'bad' }, { text: '  ' }], false), 'x');
  });

  it('is measured in columns', () => {
    for (const [text, width] of [
      ['', 0],
      ['abc', 3],
      ['Zürich', 6],
      ['e\u0301', 1],
      ['東京', 4],
      ['한국', 4],
      ['✅ done', 7],
    ] as const)
      assert.equal(widthOf(text), width, text);
  });

  it('is cut by columns', () => {
    for (const [text, columns, expected] of [
      ['abcdef', 6, 'abcdef'],
      ['abcdef', 5, 'abcd…'],
      ['東京都', 5, '東京…'],
      ['東京都', 4, '東…'],
      ['abc', 0, ''],
    ] as const)
      assert.equal(cut(text, columns), expected);
  });
});

const texts = (lines: ReturnType<typeof table>) => lines.map((line) => render(line, false));

describe('tables', () => {
  const columns = { NAME: 'name', N: ({ n }: { name: string; n: number }) => String(n) } as const;
  const items = [
    { name: '東京', n: 1 },
    { name: 'a\u001bb', n: 22 },
    { name: 'Zürich', n: 3 },
  ];

  it('are aligned, for any content', () => {
    assert.deepEqual(texts(table(items, columns, undefined)), ['NAME    N', '東京    1', 'a b     22', 'Zürich  3']);
  });

  it("are cut to the terminal's width", () => {
    assert.deepEqual(texts(table(items, columns, 5)), ['NAME…', '東京…', 'a b …', 'Züri…']);
  });

  it('show a single item as names and values', () => {
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
