import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { remarksOf, required } from '../../../src/api/input.js';
import { jsonPointer } from '../../../src/chain/request.js';
import { maxDepth, readStrictJson } from '../../../src/door/strict-json.js';

const read = (text: string) => readStrictJson(new TextEncoder().encode(text).buffer);
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe('readStrictJson accepts', () => {
  const accepted = [
    '[]',
    ' {"a": [1, "x", null, true, {"b": {}}]} ',
    '5',
    '"text"',
    'null',
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":1}}}',
    '["a","a"]',
    '{"a":"b","b":"a"}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a":"\\\\","b":"[[["}',
    '{"x":"__proto__"}',
    '{"constructor":1,"prototype":2,"__proto":3}',
    '{"A":1,"a":2}',
    '{"é":1,"e\u0301":2}',
    '"😀 \\ud83d\\ude00 \\u0001"',
    '\ufeff[1]',
    nested(maxDepth),
    nestedObjects(maxDepth),
    `[${'[],'.repeat(1000)}[]]`,
  ];
  for (const text of accepted) {
    it(text.slice(0, 50), () => assert.deepEqual(read(text), { ok: true, value: JSON.parse(text.replace(/^\ufeff/, '')) }));
  }
});

describe('readStrictJson refuses', () => {
  const refused: [text: string, error: string][] = [
    ['', 'is not JSON: it is empty'],
    [' \n', 'is not JSON: it is empty'],
    ['\ufeff', 'is not JSON: it is empty'],
    ['[', 'is not JSON: it ends too early'],
    ['{"a":', 'is not JSON: it ends too early'],
    ['[1,]', 'is not JSON: "]" is not expected at this place'],
    ['abc', 'is not JSON: "a" is not expected at this place'],
    ['[undefined]', 'is not JSON: "u" is not expected at this place'],
    ['at position 7', 'is not JSON: "a" is not expected at this place'],
    ['{a:1}', 'is not JSON at line 1, column 2'],
    ['[\n  {"a": 1,}\n]', 'is not JSON at line 2, column 11'],
    ['{"a":"x\ny"}', 'is not JSON at line 1, column 8'],
    ['{"a":"say "hi""}', 'is not JSON at line 1, column 12'],
    ['[1] [2]', 'is not JSON at line 1, column 5'],
    ['{"a":1,"a":2}', 'has the field "a" twice in one object'],
    ['{"a":1,"\\u0061":2}', 'has the field "a" twice in one object'],
    ['[{"x":{"b":[{"b":1}],"c":0,"b":3}}]', 'has the field "b" twice in one object'],
    ['{"":1,"":2}', 'has the field "" twice in one object'],
    ['{"a:{":1,"a:{":2}', 'has the field "a:{" twice in one object'],
    [`{"${'n'.repeat(100)}":1,"${'n'.repeat(100)}":2}`, `has the field "${'n'.repeat(80)}" twice in one object`],
    ['{"__proto__":{}}', 'has a field named "__proto__"'],
    ['[{"a":{"\\u005f_proto__":1}}]', 'has a field named "__proto__"'],
    [nested(maxDepth + 1), 'is nested deeper than 32 levels'],
    [nestedObjects(maxDepth + 1), 'is nested deeper than 32 levels'],
    [nested(100_000), 'is nested deeper than 32 levels'],
    ['"\\u0000"', 'has a NUL character at the top level'],
    ['[{"a":["x","y\\u0000"]}]', 'has a NUL character at /0/a/1'],
    ['[{"a/b":"\\u0000"}]', 'has a NUL character at /0/a~1b'],
    ['[{"\\u0000":1}]', 'has a NUL character at /0'],
    ['[{"a":"\\ud800"}]', 'has half of a surrogate pair at /0/a'],
    ['[{"a":"\\ude00\\ud83d"}]', 'has half of a surrogate pair at /0/a'],
    ['[{"\\ud800":1}]', 'has half of a surrogate pair at /0'],
  ];
  for (const [text, error] of refused) {
    it(JSON.stringify(text.slice(0, 50)), () => assert.deepEqual(read(text), { ok: false, error }));
  }

  for (const bytes of [
    [0xff],
    [0x5b, 0x22, 0xc3, 0x22, 0x5d],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0xfe, 0xff, 0, 0x35],
  ]) {
    it(`the bytes ${bytes.map((byte) => byte.toString(16))}`, () =>
      assert.deepEqual(readStrictJson(Uint8Array.from(bytes).buffer), { ok: false, error: 'is not UTF-8' }));
  }

  it('without repeating the invalid text in the error', () => {
    for (const text of [
      '[{"relayAccessToken": "s3cret" x}]',
      '{"relayAccessToken": s3cret}',
      '"s3cret',
      '["s3cret\n"]',
      's3cret',
    ]) {
      const result = read(text);
      assert.ok(!result.ok && !result.error.includes('3cret'), JSON.stringify(result));
    }
  });
});

describe('readStrictJson', () => {
  it('reads each accepted text as JSON.parse does, and accepts every output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const result = read(text);
        if (/__proto__|\\u0000/.test(text)) return;
        assert.deepEqual(result, { ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it('refuses every text that JSON.parse refuses, and never throws', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b":',
      '"a":',
      '1',
      'true',
      '\\',
      ' ',
      '"\\u0000"',
      '-',
      '"__proto__":',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
      fc
        .array(fc.tuple(fc.constantFrom('"a":', '"\\u0061":', '"b":'), fc.constantFrom('1', '{}', '["a"]')), { maxLength: 3 })
        .map((fields) => `{${fields.map((field) => field.join('')).join()}}`),
    );
    const parse = (text: string) => {
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(text, (text) => {
        const result = read(text);
        const parsed = parse(new TextDecoder().decode(new TextEncoder().encode(text)));
        if (result.ok) assert.deepEqual(parsed, { value: result.value });
        else if (parsed) assert.match(result.error, /twice|__proto__|NUL/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('jsonPointer', () => {
  for (const [path, pointer] of [
    [[], ''],
    [[1, 'delayInSeconds'], '/1/delayInSeconds'],
    [['a/b', 'm~n', ''], '/a~1b/m~0n/'],
  ] as const) {
    it(`of ${JSON.stringify(path)} is "${pointer}"`, () => assert.equal(jsonPointer(path), pointer));
  }
});

describe('remarksOf', () => {
  it('reports every mistake at its place', () => {
    const schema = z.strictObject({
      name: z.string(),
      on: z.enum(['a', 'b']),
      auth: z.strictObject({ headers: z.record(z.string().regex(/^a/, 'not a name'), z.string()) }),
    });
    const parsed = schema.safeParse({ on: 'c', auth: { headers: { b: 'x' }, other: 1 }, 'x/y': 1 }, { error: required });
    assert.ok(parsed.error);
    assert.deepEqual(
      new Map(remarksOf(parsed.error).map(({ pointer, detail }) => [pointer, detail])),
      new Map([
        ['/name', 'is required'],
        ['/on', 'Invalid option: expected one of "a"|"b"'],
        ['/auth/headers/b', 'not a name'],
        ['/auth/other', 'is not a known field'],
        ['/x~1y', 'is not a known field'],
      ]),
    );
  });
});
