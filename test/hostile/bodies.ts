/**
 * Malicious or careless bodies, and the expected answer to each body. A test replaces each `'*'` in a body by a rule's
 * credentials.
 */

export interface Hostile {
  what: string;
  body: string | Uint8Array<ArrayBuffer>;
  /** The last segment of the problem's type, or `accepted`. */
  answer: string;
}

/** Names of action fields, misspelled names, and names with a meaning in JavaScript. */
export const fieldNames = [
  ...['action', 'relayId', 'relayAccessToken', 'platformAssignmentId', 'delayInSeconds', 'actionCondition', 'incomingValue'],
  ...['comment', 'groupId', 'sendToGroups', 'sendRadius', 'emails', 'subject', 'body', 'bodyHtml', 'externalSystemTicketId'],
  ...['cfName', 'cfValue', 'cfTargetDateFormat', 'delayInSecond', 'constructor', 'toString', ''],
];
/** Values that have a meaning in at least one field. */
export const fieldTexts = [
  ...['0', '-1', '1e9', '${assignment_id}', 'status==draft', 'a.b[0]!="c"', 'yyyy-MM-dd', "'", 'a@x.example', ',,', '\r\nBcc: x'],
];

const bytes = (...values: number[]) => new Uint8Array(values);
const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);

/** @param credentials - the fields of a rule and its token, without braces: `"relayId":"1","relayAccessToken":"…"` */
export function hostileBodies(credentials: string): Hostile[] {
  const udf = `"action":"ticket_updateUDF","externalSystemTicketId":"HOSTILE","cfName":"f","cfValue":"v",${credentials}`;
  const email = `"action":"sendEmails","subject":"s","body":"b","bodyHtml":"<p>b</p>",${credentials}`;
  return [
    { what: 'nothing', body: '', answer: 'malformed-json' },
    { what: 'white space', body: ' \n\t', answer: 'malformed-json' },
    { what: 'a lone bracket', body: '[', answer: 'malformed-json' },
    { what: 'a text', body: '"x"', answer: 'not-an-array' },
    { what: 'null', body: 'null', answer: 'not-an-array' },
    { what: 'an object', body: '{}', answer: 'not-an-array' },
    { what: 'an empty array', body: '[]', answer: 'not-an-array' },
    { what: 'an array of null', body: '[null]', answer: 'not-an-array' },
    { what: '100,000 zeros', body: `[${'0,'.repeat(100_000)}0]`, answer: 'not-an-array' },
    { what: 'an array of arrays', body: '[[]]', answer: 'not-an-array' },
    { what: '80,000 empty objects', body: `[${'{},'.repeat(80_000)}{}]`, answer: 'unauthorized' },
    { what: 'a field twice', body: `[{${udf},"cfName":"g"}]`, answer: 'malformed-json' },
    { what: 'a field twice, once escaped', body: `[{${udf},"cfN\\u0061me":"g"}]`, answer: 'malformed-json' },
    { what: '__proto__', body: `[{${udf},"__proto__":{"isAdmin":true}}]`, answer: 'malformed-json' },
    { what: '__proto__, escaped and deep', body: `[{${udf},"x":{"__pr\\u006fto__":[]}}]`, answer: 'malformed-json' },
    { what: 'constructor', body: `[{${udf},"constructor":{"prototype":{"x":1}}}]`, answer: 'accepted' },
    { what: 'a lone surrogate', body: `[{${udf},"comment":"\\ud83d"}]`, answer: 'malformed-json' },
    { what: 'a lone surrogate in a name', body: `[{${udf},"\\udc00":1}]`, answer: 'malformed-json' },
    { what: 'a NUL', body: `[{${udf},"comment":"a\\u0000b"}]`, answer: 'malformed-json' },
    { what: 'a raw NUL', body: `[{${udf},"comment":"a\u0000b"}]`, answer: 'malformed-json' },
    { what: 'a raw line break in a text', body: `[{${udf},"comment":"a\nb"}]`, answer: 'accepted' },
    { what: 'Latin-1', body: bytes(0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d), answer: 'not-an-array' },
    { what: 'no text', body: bytes(0x5b, 0x22, 0x81, 0xfe, 0x22, 0x5d), answer: 'malformed-json' },
    { what: 'overlong UTF-8', body: bytes(0x5b, 0x22, 0xc0, 0x80, 0x22, 0x5d), answer: 'malformed-json' },
    { what: 'UTF-16', body: bytes(0xff, 0xfe, 0x5b, 0, 0x5d, 0), answer: 'not-an-array' },
    { what: '33 levels', body: nested(33), answer: 'malformed-json' },
    { what: '100,000 levels', body: nested(100_000), answer: 'malformed-json' },
    { what: '100,000 levels of objects', body: '{"a":'.repeat(50_000), answer: 'malformed-json' },
    { what: 'levels in a field', body: `[{${udf},"x":${nested(40, '1')}}]`, answer: 'malformed-json' },
    { what: 'a number as large as a page', body: `[{${udf},"x":1${'0'.repeat(10_000)}}]`, answer: 'accepted' },
    { what: 'a number that is infinite', body: `[{${udf},"delayInSeconds":1e999}]`, answer: 'invalid-chain' },
    { what: 'a number beyond the safe integers', body: `[{${udf},"delayInSeconds":9007199254740993}]`, answer: 'invalid-chain' },
    { what: 'NaN', body: `[{${udf},"delayInSeconds":NaN}]`, answer: 'malformed-json' },
    { what: 'a negative delay', body: `[{${udf},"delayInSeconds":"-1"}]`, answer: 'invalid-chain' },
    { what: 'a delay of 5,000 digits', body: `[{${udf},"delayInSeconds":"${'9'.repeat(5000)}"}]`, answer: 'invalid-chain' },
    { what: '367 days', body: `[{${udf},"delayInSeconds":"31708800"}]`, answer: 'invalid-chain' },
    { what: '101 actions', body: `[${`{${udf}},`.repeat(100)}{${udf}}]`, answer: 'invalid-chain' },
    {
      what: '51 recipients',
      body: `[{${email},"emails":["${Array.from({ length: 51 }, (_, n) => `a${n}@x.example`)}"]}]`,
      answer: 'invalid-chain',
    },
    { what: 'recipients of every kind but text', body: `[{${email},"emails":[{},[],null]}]`, answer: 'invalid-chain' },
    { what: 'a condition of 490 names', body: `[{${udf},"actionCondition":"${'a.'.repeat(490)}!"}]`, answer: 'invalid-chain' },
    { what: 'a condition of brackets', body: `[{${udf},"actionCondition":"${'a[0]'.repeat(200)}=="}]`, answer: 'invalid-chain' },
    { what: 'a pattern of 255 quotes', body: `[{${udf},"cfTargetDateFormat":"${"'".repeat(255)}"}]`, answer: 'invalid-chain' },
    {
      what: '5,000 misspelled names',
      body: `[{${udf},${Array.from({ length: 5000 }, (_, n) => `"comment${n % 100}${String.fromCharCode(97 + (n % 26))}${n}":1`)}}]`,
      answer: 'accepted',
    },
    { what: 'every field an object', body: `[{"action":{},"relayId":{},"relayAccessToken":{}}]`, answer: 'unauthorized' },
    { what: 'an empty action', body: `[{${credentials}}]`, answer: 'invalid-chain' },
    { what: 'a method name as action', body: `[{"action":"toString",${credentials}}]`, answer: 'invalid-chain' },
    { what: 'a token of 200 KB', body: `[{"relayId":"1","relayAccessToken":"${'x'.repeat(200_000)}"}]`, answer: 'unauthorized' },
    { what: 'an id of SQL', body: `[{"relayId":"1' OR '1'='1","relayAccessToken":"x"}]`, answer: 'unauthorized' },
    { what: 'a number for an id', body: `[{"relayId":1e30,"relayAccessToken":1}]`, answer: 'unauthorized' },
    { what: '300 KB', body: `["${'x'.repeat(300_000)}"]`, answer: 'body-too-large' },
    {
      what: 'header injection',
      body: `[{${email},"emails":["a@x.example\\r\\nBcc: b@x.example"],"delayInSeconds":"86400"}]`,
      answer: 'accepted',
    },
  ];
}
