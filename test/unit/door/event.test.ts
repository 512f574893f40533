import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEvent, readEventText } from '../../../src/door/event.js';

const read = (text: string, contentType = 'application/json') =>
  readEvent({ contentType, contentEncoding: undefined, bytes: new TextEncoder().encode(text).buffer, whole: true });

describe('the body of an event', () => {
  const events: [what: string, body: string, event: unknown, text?: string][] = [
    ['an object', '{"a":1}', { a: 1 }],
    ['an empty object', '{}', {}],
    ['an object that looks like an action', '{"action":"sendEmails","relayId":"1"}', { action: 'sendEmails', relayId: '1' }],
    ['an object with only a list', '{"items":[{"a":1}]}', { items: [{ a: 1 }] }],
    ['JSON inside a string', '{"Entity":"{\\"id\\":1}"}', { Entity: '{"id":1}' }],
    ['a comma too much', '{"a":[1,],}', { a: [1] }, '{"a":[1]}'],
    [
      'a NUL and halves of characters',
      '{"a\\u0000":["\\ud800x","\\udc00"],"b":"\\ud83d\\ude00"}',
      { 'a\ufffd': ['\ufffdx', '\ufffd'], b: '😀' },
    ],
  ];
  for (const [what, body, event, text = body] of events)
    it(`is read: ${what}`, async () => {
      const found = await read(body);
      assert(found.ok, JSON.stringify(found));
      assert.deepEqual([found.event, found.text], [event, text]);
      assert.deepEqual(readEventText(found.text), event, 'the stored text must be read as the body was');
    });

  it('may have own fields named __proto__, which change nothing else', async () => {
    const body = '{"__proto__":{"admin":true},"a":{"__proto__":null},"nul":"\\u0000"}';
    const found = await read(body);
    assert(found.ok);
    assert.deepEqual(Object.keys(found.event), ['__proto__', 'a', 'nul']);
    assert.equal(Object.getPrototypeOf(found.event), Object.prototype);
    assert.equal(({} as { admin?: boolean }).admin, undefined);
  });

  const flawed: [what: string, body: string, kind: string][] = [
    ['an array', '[{}]', 'not-an-object'],
    ['null', 'null', 'not-an-object'],
    ['a text', '"{}"', 'not-an-object'],
    ['a field twice', '{"a":1,"b":{"c":1,"c":2}}', 'field-twice'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'field-twice'],
    ['a quotation mark in a text', '{"a":"b "c" d"}', 'quotation-mark'],
    ['33 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'depth'],
    ['nothing', ' ', 'empty'],
  ];
  for (const [what, body, kind] of flawed)
    it(`is not read: ${what}`, async () => {
      const found = await read(body);
      assert(!found.ok);
      assert.deepEqual([found.flaw.kind, found.text], [kind, body]);
      assert.equal(readEventText(body), undefined);
    });
});
