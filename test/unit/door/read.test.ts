import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { mostBytes } from '../../../src/chain/request.js';
import { flawAdvice, flawWords } from '../../../src/door/flaw.js';
import { type Reading, readClosely, readPlain } from '../../../src/door/read.js';

const good = '[{"action":"sendEmails","relayId":"4711","body":"blue"}]';
const elements = [{ action: 'sendEmails', relayId: '4711', body: 'blue' }];

type Sent = { type?: string | undefined; encoding?: string; whole?: boolean };

async function read(body: string | Uint8Array, { type = 'application/json', encoding, whole = true }: Sent = {}) {
  const bytes = new Uint8Array(typeof body === 'string' ? new TextEncoder().encode(body) : body).buffer;
  const received = { contentType: type === '' ? undefined : type, contentEncoding: encoding, bytes, whole };
  return readPlain(received) ?? (await readClosely(received));
}

const warned = (reading: Reading) =>
  reading.ok ? reading.warnings.map(({ detail }) => detail).join(' | ') : assert.fail(reading.flaw.kind);

const utf16 = (text: string, bigEndian = false) => {
  const bytes = Buffer.from(text, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
};
const latin1 = Buffer.from(good.replace('blue', 'grün'), 'latin1');
const multipart = (json: string, more = '') => ({
  type: 'multipart/form-data; boundary=x',
  body: `--x\r\nContent-Disposition: form-data; name="payload"\r\n\r\n${json}\r\n${more}--x--\r\n`,
});

describe('a body with one meaning is read in that meaning, with a warning', () => {
  const cases: [what: string, body: string | Uint8Array, sent: Sent, warning: RegExp | '', more?: object][] = [
    ['strict JSON', good, {}, ''],
    [
      'a line break in a text',
      good.replace('blue', 'bl\nue'),
      {},
      /^line 1, column 52: a text contains an unescaped line break .* escape/,
      { body: 'bl\nue' },
    ],
    [
      'a tab and other control characters',
      good.replace('blue', 'a\tb\u0001\r\n'),
      {},
      /a text contains an unescaped line break/,
      { body: 'a\tb\u0001\r\n' },
    ],
    ['a comma before a bracket', good.replace('"}]', '",\n}, ]'), {}, /^line 1, column 55: a comma before/],
    ['one action by itself', good.slice(1, -1), {}, /is a single action/],
    ['a list in an object', `{"actions":${good}}`, {}, /an object; the list of actions was read from its field "actions"/],
    ['no content type', good, { type: '' }, /no Content-Type/],
    ['another content type', good, { type: 'text/plain' }, /another Content-Type/],
    ['an invalid form', good, { type: 'application/x-www-form-urlencoded' }, /another Content-Type/],
    ['a form field', `payload=${encodeURIComponent(good)}`, { type: 'application/x-www-form-urlencoded' }, /form field/],
    ['a multipart form field', multipart(good).body, multipart(''), /form field/],
    ['gzip', gzipSync(good), { encoding: 'gzip' }, /compressed with gzip; send it uncompressed/],
    ['undeclared gzip', gzipSync(good), {}, /compressed with gzip, but has no Content-Encoding/],
    ['declared gzip that is not compressed', good, { encoding: 'gzip' }, /is not compressed, but its Content-Encoding says gzip/],
    ['brotli', brotliCompressSync(good), { encoding: 'br' }, /compressed with br;/],
    ['deflate', deflateSync(good), { encoding: 'deflate' }, /compressed with deflate;/],
    ['deflate without its header', deflateRawSync(good), { encoding: 'deflate' }, /compressed with deflate;/],
    [
      'gzip within brotli',
      brotliCompressSync(gzipSync(good)),
      { encoding: 'gzip, br' },
      /compressed with br;.*compressed with gzip;/,
    ],
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(good)]), {}, /is in utf-16le/],
    ['UTF-16, big-endian, with a mark', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16(good, true)]), {}, /is in utf-16be/],
    ['UTF-16 without a mark', utf16(good), {}, /is in utf-16le/],
    ['UTF-16, declared', utf16(good), { type: 'application/json; charset=utf-16' }, /is in utf-16/],
    ['Latin-1', latin1, {}, /is in windows-1252/, { body: 'grün' }],
    ['Latin-1, declared', latin1, { type: 'application/json; charset=iso-8859-1' }, /is in iso-8859-1/, { body: 'grün' }],
    [
      'UTF-8 that is declared as Latin-1',
      good.replace('blue', 'grün'),
      { type: 'application/json; charset=latin1' },
      /charset latin1, but was read as UTF-8/,
      { body: 'grün' },
    ],
    ['ASCII that is declared as Latin-1', good, { type: 'application/json; charset=latin1' }, /was read as UTF-8/],
    ['UTF-8 that is declared', good, { type: 'application/json; charset="UTF-8"' }, ''],
  ];
  for (const [what, body, sent, warning, more] of cases) {
    it(what, async () => {
      const reading = await read(body, sent);
      const found = warned(reading);
      assert.deepEqual(reading.ok && reading.elements, [{ ...elements[0], ...more }]);
      assert.equal(reading.ok && reading.looseness(), undefined);
      if (warning === '') assert.equal(found, '');
      else assert.match(found, warning);
    });
  }
});

describe('a body without one meaning is never guessed: the error says where it breaks and what to change', () => {
  const action = (body: string) => `[{"action":"sendEmails","relayId":"4711","body":${body},"subject":"x"}]`;
  const cases: [what: string, body: string | Uint8Array, sent: Sent, says: RegExp, advice: RegExp][] = [
    [
      'a quotation mark',
      action('"the "blue" door"'),
      {},
      /^line 1, column 54: the text of `body` has a quotation mark directly before `blue`; this mark ends the text too early$/,
      /remove from the template all fields in which people write their own text/,
    ],
    [
      'a quotation mark at the end of a text',
      action('"the door "blue""'),
      {},
      /the text of `body` has a quotation mark directly before `blue`; this mark ends the text too early/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    [
      'a quotation mark and a comma',
      action('"yes", then left"'),
      {},
      /the text of `body` has a quotation mark directly before `, then l`; this mark ends the text too early$/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    [
      'two quotation marks around a comma',
      action('"a "," b"'),
      {},
      /the text of `body` has a quotation mark/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    [
      'a line break and a quotation mark',
      action('"one\n"two""'),
      {},
      /^line 2, column 1: the text of `body`/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    [
      'a backslash',
      action('"C:\\data"'),
      {},
      /a backslash before `data` in the text of `body`/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    [
      'a backslash at the end of a text',
      action('"C:\\"'),
      {},
      /a backslash before `.*` in the text of `body`/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    ['single quotation marks', "[{'action':'sendEmails'}]", {}, /a single quotation mark/, /double quotation marks/],
    ['a comment', `[ // note\n${good.slice(1)}`, {}, /line 1, column 3: a comment/, /comment/],
    ['a comment within an action', good.replace(',', '/* a */,'), {}, /a comment begins here/, /comment/],
    ['cut off in a text', good.slice(0, -5), {}, /the text ends too early, at `body`/, /cut off long requests/],
    ['cut off between actions', `${good.slice(0, -1)},`, {}, /the text ends too early/, /complete/],
    ['a variable without quotation marks', action('blue door'), {}, /missing before `blue`, near `body`/, /quotation marks/],
    ['a name without quotation marks', '[{action:"x"}]', {}, /missing before `action`/, /quotation marks/],
    ['an empty variable without quotation marks', action(''), {}, /`body` has no value/, /""/],
    ['another bracket', '[{"a":1]]', {}, /the bracket `]` does not belong here/, /brackets/],
    ['two lists', `${good}\n${good}`, {}, /line 2, column 1: the JSON has ended/, /inside one array or one object/],
    ['too many levels', '['.repeat(1000), {}, /nested deeper than 32 levels/, /fewer levels/],
    [
      'a field twice',
      action('"a","emails":[],"emails":[]'),
      {},
      /the field `emails` occurs twice in one object/,
      /Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash/,
    ],
    ['nothing', ' ', {}, /^the body is empty$/, /template/],
    ['a text', '"[]"', {}, /no list of actions/, /an array/],
    ['an object that is no action', '{"a":[],"b":[]}', {}, /no list of actions/, /an array/],
    ['an empty list', '[]', {}, /no list of actions/, /an array/],
    ['a list of texts', '["x"]', {}, /no list of actions/, /an array/],
    ['a raw NUL', action('"a\u0000b"'), {}, /cannot be stored/, /values from the event/],
    ['half a surrogate pair', action('"\\ud83d"'), {}, /half of a surrogate pair/, /values from the event/],
    ['more than the limit', 'x'.repeat(10), { whole: false }, /larger than 256 KiB/, /link to images/],
    [
      'a compression bomb',
      gzipSync(Buffer.alloc(50_000_000, 0x20)),
      { encoding: 'gzip' },
      /larger than 256 KiB/,
      /link to images/,
    ],
    [
      'gzip cut off',
      gzipSync(Buffer.from(Array.from({ length: 9000 }, (_, n) => `${(n * 7919) % 9973}`).join(' '))).subarray(0, 5000),
      { encoding: 'gzip' },
      /ends too early/,
      /complete/,
    ],
    ['an unknown compression', good, { encoding: 'zstd' }, /compression of the body is unknown/, /gzip/],
    [
      'Latin-1 that is declared as UTF-8',
      latin1,
      { type: 'application/json; charset=utf-8' },
      /charset of the body is unknown/,
      /UTF-8/,
    ],
    ['Latin-1 beside UTF-8', Buffer.concat([latin1, Buffer.from('ü')]), {}, /charset of the body is unknown/, /UTF-8/],
    ['bytes that are no text', Buffer.from([0x5b, 0x22, 0x81, 0x22, 0x5d]), {}, /charset of the body is unknown/, /UTF-8/],
    [
      'two form fields',
      `a=${encodeURIComponent(good)}&b=1`,
      { type: 'application/x-www-form-urlencoded' },
      /a quotation mark, a comma or a colon is missing/,
      /quotation/,
    ],
  ];
  for (const [what, body, sent, says, advice] of cases) {
    it(what, async () => {
      const reading = await read(body, sent);
      const flaw = reading.ok ? (reading.looseness() ?? assert.fail('it was read')) : reading.flaw;
      assert.match(flawWords(flaw, reading.text), says);
      assert.match(flawAdvice(flaw), advice);
      assert(reading.text.length <= mostBytes);
    });
  }
});

it("the error about half a character in a field's name can be stored", async () => {
  const text = String.raw`[{"action":"sendEmails","\ud83d":"` + '`},{","}]';
  const reading = await read(text);
  assert(!reading.ok);
  const says = flawWords(reading.flaw, reading.text);
  assert.doesNotMatch(says, /\p{Cs}|\0/u);
  assert.match(says, /\ufffd/);
});
