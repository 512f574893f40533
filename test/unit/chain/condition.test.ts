import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  asksIncomingValue,
  type Condition,
  evaluateCondition,
  parseCondition,
  pathText,
  plainCondition,
  storedCondition,
} from '../../../src/chain/condition.js';

function parsed(text: string): Condition {
  const result = parseCondition(text);
  assert.ok(result.ok, text);
  return result.condition;
}

describe('a condition in words', () => {
  for (const [stored, plain] of [
    ['status==draft', 'status is draft'],
    ['status!=in  progress', 'status is not in  progress'],
    ['location.zip=="94016"', 'location.zip is "94016"'],
    ['status==', 'status is '],
    ['note==a is b==c', 'note is a is b==c'],
  ] as const)
    it(`${stored}: ${plain}`, () => {
      assert.equal(plainCondition(stored), plain);
      assert.equal(storedCondition(plain), stored);
    });

  it('stays as it is if the words would be read as another condition, or if it is no comparison', () => {
    for (const text of ['status==not ready', 'a > 3 && b==c', '${x}==draft', 'soon', ''])
      assert.equal(plainCondition(text), text, text);
    for (const text of ['a > 3 && b==c', 'event.note=="this is x"', 'soon', '']) assert.equal(storedCondition(text), text, text);
  });
});

describe('parseCondition', () => {
  const accepted: [text: string, path: (string | number)[], operator: '==' | '!=', value: string][] = [
    ['status==draft', ['status'], '==', 'draft'],
    ['status!=draft', ['status'], '!=', 'draft'],
    ['location.zip==94016', ['location', 'zip'], '==', '94016'],
    ['incomingValue==MN', ['incomingValue'], '==', 'MN'],
    ['stops[0].id==7', ['stops', 0, 'id'], '==', '7'],
    ['matrix[1][20]==x', ['matrix', 1, 20], '==', 'x'],
    ['custom_fields[4711]==x', ['custom_fields', 4711], '==', 'x'],
    ['a.b-c.$d._e9==x', ['a', 'b-c', '$d', '_e9'], '==', 'x'],
    ['straße.größe==groß', ['straße', 'größe'], '==', 'groß'],
    ['名前==東京 都', ['名前'], '==', '東京 都'],
    ['नाम==x', ['नाम'], '==', 'x'],
    // Both sides are trimmed; blanks inside the value stay.
    ['  status  ==  draft  ', ['status'], '==', 'draft'],
    ['status==\n\tin  progress\r\n', ['status'], '==', 'in  progress'],
    // One pair of matching quotes is removed; the text inside is not trimmed.
    ['status=="draft"', ['status'], '==', 'draft'],
    ["status == 'draft'", ['status'], '==', 'draft'],
    ['status==" draft "', ['status'], '==', ' draft '],
    ['status==""', ['status'], '==', ''],
    ['status==""draft""', ['status'], '==', '"draft"'],
    ['status=="draft', ['status'], '==', '"draft'],
    ['status=="', ['status'], '==', '"'],
    ['status==\'draft"', ['status'], '==', '\'draft"'],
    ['status=="it\'s"', ['status'], '==', "it's"],
    ["status==it's", ['status'], '==', "it's"],
    ['status=="two\nlines"', ['status'], '==', 'two\nlines'],
    // An empty right side is the empty text.
    ['incomingValue==', ['incomingValue'], '==', ''],
    ['status!= ', ['status'], '!=', ''],
    // These operators are a part of the value.
    ['size==<5', ['size'], '==', '<5'],
    ['sum==a=b', ['sum'], '==', 'a=b'],
    ['key==c2VjcmV0==', ['key'], '==', 'c2VjcmV0=='],
    ['mark==!', ['mark'], '==', '!'],
    ['status==draft|sent', ['status'], '==', 'draft|sent'],
    ['status==draft&sent', ['status'], '==', 'draft&sent'],
    ['title=="a && b || c==d"', ['title'], '==', 'a && b || c==d'],
    ["title=='a != b'", ['title'], '==', 'a != b'],
    ['status==null', ['status'], '==', 'null'],
  ];
  for (const [text, path, operator, value] of accepted) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parsed(text), { path, operator, value }));
  }

  const refused: [text: string, what: string][] = [
    ['status===draft', 'has ===, which is not supported'],
    ['status!==draft', 'has !==, which is not supported'],
    ['status=draft', '"status=draft" has a single ='],
    ['status = = draft', '"status = = draft" has a single ='],
    ['status', '"status" has no =='],
    ['status is draft', '"status is draft" has no =='],
    ['', '"" has no =='],
    ['  ', '"  " has no =='],
    ['size<5', 'has <, which is not supported'],
    ['size<=5', 'has <=, which is not supported'],
    ['size>5', 'has >, which is not supported'],
    ['size>=5', 'has >=, which is not supported'],
    ['size<>5', 'has <>, which is not supported'],
    ['size=>5', 'has =>, which is not supported'],
    ['name=~x', 'has =~, which is not supported'],
    ['!done', 'has !, which is not supported'],
    ['a&&b', 'has &&, which is not supported'],
    ['a||b', 'has ||, which is not supported'],
    ['size<==5', 'has <, which is not supported'],
    [
      'status==draft && size==5',
      'has && after the first comparison, which is not supported (put quotes around a value that contains &&)',
    ],
    [
      'status==draft||status==sent',
      'has || after the first comparison, which is not supported (put quotes around a value that contains ||)',
    ],
    [
      'status=="draft"||status=="sent"',
      'has || after the first comparison, which is not supported (put quotes around a value that contains ||)',
    ],
    [
      "status=='draft' && status!='sent'",
      'has && after the first comparison, which is not supported (put quotes around a value that contains &&)',
    ],
    [
      'status=="draft" or status=="sent"',
      'has == after the first comparison, which is not supported (put quotes around a value that contains ==)',
    ],
    ['a==b==c', 'has == after the first comparison, which is not supported (put quotes around a value that contains ==)'],
    ['a==b != c', 'has != after the first comparison, which is not supported (put quotes around a value that contains !=)'],
    ['a && b==c', 'has &&, which is not supported'],
    ['a<5||b==c', 'has ||, which is not supported'],
    ['==draft', 'has "", which is not the name of a property'],
    ['!status==draft', 'has "!status", which is not the name of a property'],
    ['"status"==draft', 'has ""status"", which is not the name of a property'],
    ['first name==x', 'has "first name", which is not the name of a property'],
    ['location..zip==x', 'has "location..zip", which is not the name of a property'],
    ['.zip==x', 'has ".zip", which is not the name of a property'],
    ['location.==x', 'has "location.", which is not the name of a property'],
    ['5==x', 'has "5", which is not the name of a property'],
    ['stops[]==x', 'has "stops[]", which is not the name of a property'],
    ['stops[-1]==x', 'has "stops[-1]", which is not the name of a property'],
    ['stops[x]==x', 'has "stops[x]", which is not the name of a property'],
    ["stops['id']==x", 'has "stops[\'id\']", which is not the name of a property'],
    ['[0]==x', 'has "[0]", which is not the name of a property'],
    ['stops[0]id==x', 'has "stops[0]id", which is not the name of a property'],
    ['name()==x', 'has "name()", which is not the name of a property'],
    ['incomingValue.length==3', 'asks for a property of incomingValue, but incomingValue is a text'],
    ['incomingValue[0]==x', 'asks for a property of incomingValue, but incomingValue is a text'],
  ];
  for (const [text, what] of refused) {
    it(`refuses ${JSON.stringify(text)} and names what is supported`, () => {
      const result = parseCondition(text);
      assert.ok(!result.ok);
      const supported = 'write <property>==<value> or <property>!=<value>, one comparison only';
      assert.ok(result.error.startsWith(`${what}: ${supported}`), result.error);
    });
  }

  it('never throws, and reads a path from its own output', () => {
    const piece = fc.constantFrom(
      'status',
      'a.b',
      '[0]',
      '==',
      '!=',
      '=',
      ' ',
      '"',
      "'",
      '&&',
      '||',
      '<',
      'é',
      '😀',
      '\n',
      '${x}',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (text) => {
        const result = parseCondition(text);
        if (!result.ok) return;
        const { path, operator } = result.condition;
        assert.deepEqual(parsed(`${pathText(path)}${operator}x`), { path, operator, value: 'x' });
      }),
    );
  });
});

describe('asksIncomingValue', () => {
  for (const [text, asks] of [
    ['incomingValue==x', true],
    ['incomingvalue==x', false],
    ['status==x', false],
    ['a.incomingValue==x', false],
    ['incomingValues==x', false],
  ] as const) {
    it(`${text}: ${asks}`, () => assert.equal(asksIncomingValue(parsed(text)), asks));
  }
});

describe('evaluateCondition', () => {
  const assignment = {
    status: 'sent',
    location: { zip: 94016, city: 'Zürich' },
    stops: [{ id: 'a' }, { id: 7 }],
    custom_fields: { 4711: 'x' },
    urgent: true,
    owner: null,
    note: '',
    price: 10.5,
    count: 0,
    'first-name': 'Ada',
  };
  const cases: [condition: string, holds: boolean, reason: string, missing?: true][] = [
    ['status==sent', true, 'status was "sent"'],
    ['status==draft', false, 'status was "sent"'],
    ['status!=sent', false, 'status was "sent"'],
    ['status!=draft', true, 'status was "sent"'],
    ['status==Sent', false, 'status was "sent"'],
    ['status==" sent"', false, 'status was "sent"'],
    ['location.zip==94016', true, 'location.zip was "94016"'],
    ['location.zip==094016', false, 'location.zip was "94016"'],
    ['location.city=="Zürich"', true, 'location.city was "Zürich"'],
    ['stops[0].id==a', true, 'stops[0].id was "a"'],
    ['stops[1].id==7', true, 'stops[1].id was "7"'],
    ['custom_fields[4711]==x', true, 'custom_fields[4711] was "x"'],
    ['urgent==true', true, 'urgent was "true"'],
    ['urgent!=false', true, 'urgent was "true"'],
    ['owner==null', true, 'owner was "null"'],
    ['owner==', false, 'owner was "null"'],
    ['note==', true, 'note was ""'],
    ['note==""', true, 'note was ""'],
    ['price==10.5', true, 'price was "10.5"'],
    ['price==10.50', false, 'price was "10.5"'],
    ['count==0', true, 'count was "0"'],
    ['first-name==Ada', true, 'first-name was "Ada"'],
    // A missing property is not equal to any value.
    ['location.zipp==94016', false, 'location.zipp: no such property', true],
    ['location.zipp!=94016', true, 'location.zipp: no such property', true],
    ['location.zipp==', false, 'location.zipp: no such property', true],
    ['location.zipp==undefined', false, 'location.zipp: no such property', true],
    ['Status==sent', false, 'Status: no such property', true],
    ['stops[2].id==a', false, 'stops[2].id: no such property', true],
    ['stops.id==a', false, 'stops.id: no such property', true],
    ['status.x==a', false, 'status.x: no such property', true],
    ['status[0]==s', false, 'status[0]: no such property', true],
    ['owner.name==a', false, 'owner.name: no such property', true],
    // A list or an object is not equal to any value, but it counts as present.
    ['location==94016', false, 'location was an object, not a value'],
    ['location!=94016', true, 'location was an object, not a value'],
    ['stops==a', false, 'stops was a list, not a value'],
    ['stops[0]==[object Object]', false, 'stops[0] was an object, not a value'],
  ];
  for (const [text, holds, reason, missing = false] of cases) {
    it(`${text}: ${holds}, ${reason}`, () => {
      assert.deepEqual(evaluateCondition(parsed(text), assignment), { holds, reason, missing });
    });
  }

  const incoming: [condition: string, subject: { incomingValue?: string }, holds: boolean][] = [
    ['incomingValue==MN', { incomingValue: 'MN' }, true],
    ['incomingValue==MN', { incomingValue: 'mn' }, false],
    ['incomingValue==MN', { incomingValue: '' }, false],
    ['incomingValue==', { incomingValue: '' }, true],
    ['incomingValue==MN', {}, false],
    ['incomingValue!=MN', {}, true],
    ['incomingValue==', {}, false],
  ];
  for (const [text, subject, holds] of incoming) {
    it(`${text} of ${JSON.stringify(subject)}: ${holds}`, () =>
      assert.equal(evaluateCondition(parsed(text), subject).holds, holds));
  }

  it('shortens the value that it saw', () => {
    const { reason } = evaluateCondition(parsed('note==x'), { note: 'y'.repeat(1000) });
    assert.equal(reason, `note was "${'y'.repeat(119)}…"`);
  });

  const inherited = ['constructor', '__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'length', 'at', 'name'];
  for (const subject of [{}, [], 'text', 5, true, null, undefined, { status: { x: [] } }]) {
    it(`ignores the inherited properties of ${JSON.stringify(subject)}`, () => {
      for (const name of inherited.flatMap((name) => [name, `constructor.${name}`, `status.${name}`, `status.x.${name}`])) {
        const expected = { reason: `${name}: no such property`, missing: true };
        assert.deepEqual(evaluateCondition(parsed(`${name}==x`), subject), { holds: false, ...expected });
        assert.deepEqual(evaluateCondition(parsed(`${name}!=x`), subject), { holds: true, ...expected });
      }
    });
  }

  it('reads own properties of any name', () => {
    const subject: unknown = JSON.parse('{"constructor": "a", "__proto__": {"length": 2}, "toString": "c"}');
    for (const text of ['constructor==a', '__proto__.length==2', 'toString==c'])
      assert.equal(evaluateCondition(parsed(text), subject).holds, true, text);
  });

  it('never throws, and == is the opposite of !=', () => {
    const step = fc.oneof(fc.constantFrom('a', 'b', ...inherited), fc.nat(2));
    const key = fc.constantFrom('a', 'b', 'constructor', 'length');
    const { subject } = fc.letrec((tie) => ({
      subject: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, 0, 1.5, true, '', 'x', '1'),
        fc.array(tie('subject'), { maxLength: 3 }),
        fc.dictionary(key, tie('subject'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        subject,
        fc.constantFrom('', 'x', '1'),
        (path, subject, value) => {
          const equal = evaluateCondition({ path, operator: '==', value }, subject);
          const unequal = evaluateCondition({ path, operator: '!=', value }, subject);
          assert.deepEqual({ ...unequal, holds: !unequal.holds }, equal);
          assert.ok(!(equal.missing && equal.holds));
        },
      ),
    );
    fc.assert(
      fc.property(fc.anything(), (subject) => void evaluateCondition({ path: ['a'], operator: '==', value: '' }, subject)),
    );
  });
});
