import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTemplate, withoutReferences } from '../../../src/rules/references.js';

describe('references in a text', () => {
  const note = { name: 'note', from: 'variable', path: 'note' };
  const cases: [text: string, template: unknown][] = [
    ['', []],
    ['plain $5 {x}', ['plain $5 {x}']],
    ['${note}', [note]],
    ['a ${note} b${note}', ['a ', note, ' b', note]],
    ['${event.a.b[0].c}', [{ name: 'event.a.b[0].c', from: 'event', path: 'a.b[0].c' }]],
    ['${assignment.title}', [{ name: 'assignment.title', from: 'assignment', path: 'title' }]],
    ['${eventful}', [{ name: 'eventful', from: 'variable', path: 'eventful' }]],
    ['$${note}', ['$', '{note}']],
    ['$$${note}', ['$', note]],
    ['$${a ${note}', ['$', '{', 'a ', note]],
    ['5$ ${note}', ['5$ ', note]],
  ];
  for (const [text, template] of cases) it(text, () => assert.deepEqual(parseTemplate(text), { ok: true, template }));

  const mistakes: [text: string, error: RegExp][] = [
    ['${note', /without }/],
    ['${a{b}', /without }/],
    ['${event}', /\$\{event\}, which is no path/],
    ['${event[0]}', /no path/],
    ['${event.a..b}', /no path: write \$\{event\.<path>\}/],
    ['${assignment.}', /\$\{assignment\.\}, which is no path/],
  ];
  for (const [text, error] of mistakes) it(`wrong: ${text}`, () => assert.match(parseTemplate(text).error ?? '', error));

  it('are not found in a text that was written without them', () => {
    const texts = fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', '.') });
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseTemplate(withoutReferences(text));
        assert.equal(parsed.template?.join(''), text);
      }),
    );
  });
});
