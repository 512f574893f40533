/**
 * The pages for people. Every relative link must lead to a file and a heading. docs/README.md must list each page under its kind.
 * The pages of docs/systems must have the same headings, settings that the API accepts, and errors that the connectors make.
 */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, it } from 'node:test';
import { platformKinds, ticketingKinds } from '../../../src/chain/kinds.js';
import { companyRequest } from '../../../src/contract/company.js';

const root = new URL('../../../../', import.meta.url);
const filesIn = (folder: string, end: string) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(end));
const names = filesIn('docs/', '.md');
const pages = [...names.map((name) => `docs/${name}`), 'README.md', 'CHANGELOG.md', 'SECURITY.md'];

/** Reads a page without its fenced blocks, because they have no headings and no links. */
const read = (page: string) => readFileSync(new URL(page, root), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

/** Makes anchors as GitHub does: lower case, no punctuation, `-` for a space. A repeated anchor gets a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^ {0,3}#{1,6} +(.+?)(?: +#+)?$/gm)) {
    const shown = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/(?<!\w)_|_(?!\w)/g, '');
    const anchor = shown
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    let free = anchor;
    for (let n = 1; anchors.has(free); n += 1) free = `${anchor}-${n}`;
    anchors.add(free);
  }
  return anchors;
}

/** The relative targets of links and pictures. */
function targetsOf(text: string): string[] {
  const prose = text.replaceAll(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)];
  const defined = [...prose.matchAll(/^ {0,3}\[[^\]]+\]: +(\S+)/gm)];
  return [...inline, ...defined].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/i.test(target));
}

/** The mistake in a link. */
function fault(page: string, target: string): string | undefined {
  const [path = '', anchor] = decodeURI(target).split('#');
  const file = path === '' ? page : posix.join(posix.dirname(page), path);
  if (file.startsWith('..') || !existsSync(new URL(file, root))) return `${target}: there is no ${file}`;
  if (anchor !== undefined && !anchorsOf(read(file)).has(anchor)) return `${target}: ${file} has no such heading`;
  return undefined;
}

describe('a link', () => {
  it('is compared with the anchors that GitHub makes', () => {
    const anchors = anchorsOf(
      '# `relay` — the command\n## A notice says "Failed" or\n## Twice\n### Twice\n## ASVS 5.0.0, _all_\n## a_b',
    );
    assert.deepEqual([...anchors], ['relay--the-command', 'a-notice-says-failed-or', 'twice', 'twice-1', 'asvs-500-all', 'a_b']);
  });

  it('is found in prose, also around a picture, and not in code', () => {
    const text = '[a](b.md#c) ![p](d.png) [![x](e.png)](f.md "title") `[g](h.md)` <https://i.example> [j](https://k.example)';
    assert.deepEqual(targetsOf(`${text}\n\n[l]: m.md`), ['b.md#c', 'd.png', 'e.png', 'f.md', 'm.md']);
  });

  it('is refused if its file or its heading is missing', () => {
    assert.match(fault('docs/README.md', 'nothing.md') ?? '', /there is no docs\/nothing\.md/);
    assert.match(fault('docs/README.md', '../README.md#nothing') ?? '', /README\.md has no such heading/);
    assert.match(fault('README.md', '#nothing') ?? '', /no such heading/);
  });

  for (const page of pages)
    it(`in ${page} leads to a file and a heading`, () => {
      const faults = targetsOf(read(page)).flatMap((target) => fault(page, target) ?? []);
      assert.deepEqual(faults, []);
    });
});

describe('docs/README.md', () => {
  const sections = read('docs/README.md').split(/^## /m).slice(1);
  const kinds = new Map(sections.map((section) => [section.split(':')[0], targetsOf(section)]));

  for (const name of names.filter((name) => name !== 'README.md'))
    it(`lists ${name} under the kind that its first lines say`, () => {
      const [, kind = ''] = /^# .+\n\n\*\*([^*]+)\.\*\* /.exec(read(`docs/${name}`)) ?? [];
      const listed = [...kinds].filter(([, targets]) => targets.includes(name)).map(([heading]) => heading);
      assert.deepEqual(listed, [kind]);
    });
});

describe('docs/systems', () => {
  const kinds = Object.entries({ ...platformKinds, ...ticketingKinds });
  const rest = ['What an error means', 'How the result is checked', 'Limits'];
  const template = ['Connect', 'Rights', 'Fields and values', ...rest];
  const connectors = filesIn('src/connectors/', '.ts').map((name) => `src/connectors/${name}`);
  const source = [...connectors, 'src/chain/kinds.ts'].map(read).join('\n').toLowerCase();

  for (const [kind] of kinds)
    it(`${kind}.md has the headings of every page`, () => {
      const headings = Array.from(read(`docs/systems/${kind}.md`).matchAll(/^#+ (.+)$/gm), ([, heading]) => heading);
      assert.deepEqual(headings.slice(1), template);
    });

  for (const page of ['http', 'mail', ...kinds.map(([kind]) => kind)])
    it(`${page}.md has settings that the API accepts`, () => {
      const text = readFileSync(new URL(`docs/systems/${page}.md`, root), 'utf8');
      const blocks = Array.from(text.matchAll(/^```json\n(.*?)^```$/gms), ([, json = '']) => json.replaceAll('…', 'example'));
      assert(blocks.length > 0);
      for (const json of blocks) companyRequest.parse({ name: 'Acme', ...JSON.parse(json) });
    });

  for (const [page, name = ''] of [['errors', 'X'], ...kinds.map(([kind, { name }]) => [kind, name.split(' ')[0]])])
    it(`${page}.md has only errors that a connector makes`, () => {
      const rows = read(`docs/systems/${page}.md`).matchAll(/^\| (?!Error|---)(.+?) \|/gm);
      const titles = Array.from(rows, ([, title = '']) => title);
      assert(titles.length > 1);
      const parts = titles.flatMap((title) => title.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), '…').split('…'));
      const unknown = parts.filter((part) => !source.includes(part.trim().toLowerCase()));
      assert.deepEqual(unknown, []);
    });
});
