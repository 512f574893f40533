import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { evaluateExpression, eventParts, type Name, parseExpression } from '../../../src/rules/expression.js';

const event = {
  status: 'created',
  priority: 3,
  price: 10.5,
  nothing: null,
  object: {},
  'job-id': 7,
  at: '2026-07-01T12:00:00Z',
  items: [
    { id: 1, name: 'one' },
    { id: 2, name: 'two' },
  ],
};
const now = new Date('2026-11-25T20:30:00Z');
const evaluate = (text: string, values = {}) =>
  evaluateExpression(text, { event, assignment: { status: 'draft' }, now, ...values });

/** `true`, `false`, or the error. */
function outcomeOf(text: string, values = {}): boolean | string {
  const found = evaluate(text, values);
  return found.ok ? found.holds : found.error;
}

describe('an expression', () => {
  const cases: [text: string, outcome: boolean | string][] = [
    ['event.status == "created" && event.priority > 2', true],
    ["event.status == 'sent' || event.priority > 3", false],
    ['event.priority == 3 && event.priority == 3.0 && 3 == event.priority', true],
    ['event.priority > 2.5 && event.price > 10', true],
    ['event.priority + 1 == 4 && event.priority + 0.5 == 3.5', true],
    ['event.price * 2 == 21.0 && 2 * event.price == 21', true],
    ['event.priority / 2 == 1 && event.priority / 2.0 == 1.5', true],
    ['event.priority in [1, 2, 3] && event.status in ["created", "sent"]', true],
    ['event["job-id"] == 7 && "job-id" in event', true],
    ['event.items.exists(item, item.id == 2 && item.name.startsWith("t"))', true],
    ['event.items.all(item, item.id < 2)', false],
    ['event.items.map(item, item.id) == [1, 2]', true],
    ['event.items.filter(item, item.id > 1).size() == 1', true],
    ['event.items[1].name == "two"', true],
    ['has(event.priority) && !has(event.urgent)', true],
    ['has(event.nothing) || "nothing" in event', false],
    ['event.nothing == null', true],
    ['!has(event.urgent) || event.urgent == true', true],
    ['event.status.matches("^cre.*d$")', true],
    ['" A".trim().lowerAscii() == "a" && size("größe") == 5 && "😀".size() == 1', true],
    ['now - timestamp(event.at) > duration("24h")', true],
    ['timestamp(1000) == timestamp("1970-01-01T00:16:40Z")', true],
    ['now.getHours() == 20 && now.getHours("America/New_York") == 15 && now.getDayOfWeek("Asia/Tokyo") == 4', true],
    ['timestamp("2026-03-08T02:30:00Z").getHours() == 2', true],
    ['assignment.status == "draft" && event.priority > 2', true],
    ['incomingValue == "501"', false],
    ['int("12") == 12 && double("1.5") == 1.5 && string(event.priority) == "3"', true],
    ['event.constructor == 1', 'event.constructor: no such property'],
    ['event.urgent == 1', 'event.urgent: no such property'],
    ['event.object.a.b == 1', 'event.object.a: no such property'],
    ['event["job id"] == 1', 'event.job id: no such property'],
    ['event.items[5].id == 1', 'event.items[5]: no such element'],
    ['event.status > 3', 'event.status > 3: > does not work on a text and a whole number'],
    ['event.status && true', 'event.status && true: needs true or false, not a text'],
    ['event.status', 'must be true or false, but is a text'],
    ['int(event.status) == 1', 'int(event.status): "created" is not a whole number'],
    ['timestamp(event.status) < now', 'timestamp(event.status): needs a time such as 2026-07-01T12:00:00Z'],
    ['event.priority.exists(x, x == 1)', 'event.priority.exists(x, x == 1): needs a list or an object, not a whole number'],
    ['event.priority / 0 == 1', 'int divide by zero'],
  ];
  for (const [text, outcome] of cases) it(text, () => assert.equal(outcomeOf(text), outcome));

  it('says which values decided the result', () => {
    const found = evaluate('event.status == "sent" && event.urgent == 1 || event.items.size() > 5');
    assert.deepEqual(found, {
      ok: true,
      holds: false,
      reason: 'event.status was "created", event.urgent: no such property, event.items was a list',
    });
  });

  it('distinguishes numbers from texts, and reads large numbers as JSON does', () => {
    const outcome = (n: unknown, text: string) => outcomeOf(text, { event: { n } });
    assert.deepEqual(
      [outcome('1', 'event.n == 1'), outcome(1, 'event.n == "1"'), outcome(1e300, 'event.n > 1'), outcome(-0, 'event.n == 0')],
      [false, false, true, true],
    );
  });
});

describe('a mistake in an expression', () => {
  const cases: [text: string, error: string, at: number | undefined][] = [
    ['', 'is blank', undefined],
    ['event.a ==', 'has no complete value after ==', 8],
    ['event.a = 1', 'has = where == is needed', 8],
    ['event.a == 1 &', 'has & where && is needed', 13],
    ['(event.a', 'ends too early', 8],
    ['event.a b', 'has b in a wrong place', 8],
    ['event.größe == 1', 'has a letter that is allowed only in quotes, for example event["größe"]', 8],
    ['event.in == 1', 'has a reserved word as a name: put the name in quotes, for example event["in"]', 6],
    ['event.a == "${name}"', 'must not contain ${…}. Write event.<path>', 12],
    ['event.a ==\n 1 1', 'has 1 in a wrong place', 14],
    ['status == "a"', 'status is not a known name: write event or assignment or incomingValue or now', 0],
    ['"abc"', 'must be true or false, but is a text', 0],
    ['event.a ? 1 : 2', 'must be true or false, but is a whole number', 0],
    ['1 + "a" == 2', '+ does not work on a whole number and a text', 1],
    ['1 && event.a', '&& needs true or false, not a whole number', 0],
    ['incomingValue == 501', '== compares a text with a whole number, which are never equal', 13],
    ['now.year == 2026', '"now" has no properties', 3],
    ['event.a.shout() == 1', 'shout is not a known function', 7],
    ['has(event)', '"has" must be written like has(event.priority)', 0],
    ['event.a.matches("(")', 'the pattern of "matches" is wrong: error parsing regexp: missing closing ): `(`', 7],
    ['b"a" == b"a"', 'bytes are not supported', 0],
    ['[1].map(x, [1].map(y, [1].map(z, z))) == []', 'has more than 2 nested macros', 25],
    ['@result == 1', 'has @result in a wrong place', 0],
    ['__proto__ == 1', '__proto__ is not a known name: write event or assignment or incomingValue or now', 0],
  ];
  for (const [text, error, at] of cases)
    it(`is found when the rule is saved: ${text}`, () =>
      assert.deepEqual(parseExpression(text), { ok: false, error, ...(at !== undefined && { at }) }));

  it('is a name that cannot be used in this place', () => {
    const allowed: Name[] = ['event'];
    assert.deepEqual(parseExpression('event.a == assignment.b', allowed), {
      ok: false,
      error: '"assignment" cannot be used here, only event',
      at: 11,
    });
  });
});

describe('the parts of an event that an expression reads', () => {
  const cases: [text: string, parts: unknown][] = [
    ['event.status == "a" && now > now', { status: 'created' }],
    ['event.items[1].id == 1', { items: [null, { id: 2 }] }],
    ['has(event.urgent) || event.items.exists(event, event == 1)', { items: event.items }],
    ['"status" in event', event],
    ['event.items[event.priority] == 1', { items: event.items, priority: 3 }],
    ['assignment.status == "a"', {}],
  ];
  for (const [text, parts] of cases)
    it(text, () => {
      const parsed = parseExpression(text);
      assert.ok(parsed.ok);
      assert.deepEqual(eventParts(parsed.expression, event), parts);
    });

  it('give the same result as the whole event', () => {
    for (const text of ['event.items[1].id == 2', 'event.items[7].id == 2', 'has(event.urgent)', 'event.object.a == 1']) {
      const parsed = parseExpression(text);
      assert.ok(parsed.ok);
      assert.deepEqual(evaluate(text, { event: eventParts(parsed.expression, event) }), evaluate(text));
    }
  });
});

/** Each expression is refused when it is parsed, or its evaluation ends with an answer or a refusal. */
describe('a hostile expression', () => {
  const long = 'ab'.repeat(60_000);
  const numbers = Array.from({ length: 20_000 }, (_, place) => place);
  const hostile = { text: long, part: `b${'ab'.repeat(20_000)}c`, digits: '9'.repeat(200_000), numbers, one: [1] };
  const many = (part: string, between: string) =>
    Array.from({ length: Math.floor(980 / (part.length + between.length)) }, () => part).join(between);
  const corpus: [name: string, text: string][] = [
    ['a regular expression that backtracks', 'event.text.matches("^(a+)+$")'],
    ['a large regular expression', 'event.text.matches("(a?){1000}a{1000}")'],
    ['a regular expression of large classes', 'event.text.matches("\\\\pL{1000}\\\\d")'],
    ['a regular expression from the event', 'event.text.matches(event.text)'],
    ['a list compared with itself', 'event.numbers.all(x, event.numbers.exists(y, y == x + 1))'],
    ['three loops', 'event.numbers.all(x, event.numbers.all(y, event.numbers.all(z, true)))'],
    ['a long chain of loops', `event.numbers${'.map(x, x)'.repeat(80)}.size() == 1`],
    ['a list that doubles', `event.one${'.map(x, [x, x])'.repeat(50)} == event.one${'.map(x, [x])'.repeat(5)}`],
    ['a list that grows', `event.numbers.map(x, event.numbers + event.numbers).size() == 1`],
    ['lists of lists', 'event.numbers.map(x, event.numbers.map(y, [x, y])).size() == 1'],
    ['a text that doubles', `[event.text]${'.map(x, x + x)'.repeat(60)}[0].size() == 1`],
    ['a long sum of texts', `(${many('event.text', '+')}).contains("x")`],
    ['texts in a loop', 'event.numbers.map(x, event.text + event.text + string(x)).exists(t, t.endsWith("x"))'],
    ['a search for a text that is almost found', 'event.text.contains(event.part)'],
    ['a number of many digits', 'int(event.digits) == 1 || double(event.digits) == 1.0'],
    ['many comparisons of long texts', many('event.text.lowerAscii()==""', '||')],
    ['deep brackets', `${'('.repeat(400)}true${')'.repeat(400)}`],
    ['deep lists', `${'['.repeat(450)}${']'.repeat(450)} == []`],
    ['many reads of the last element', `${many('event.numbers[19999]==1', '||')}`],
    ['many negations', `${'!'.repeat(990)}true`],
    ['many comparisons of equal lists', `${many('event.numbers==event.numbers', '&&')}`],
    ['the accumulator of a loop', 'event.numbers.map(x, @result + @result) == []'],
    ['a long text', `event.text == "${'a'.repeat(2000)}"`],
    ['a prototype', 'event.__proto__.polluted == 1 || event.constructor.name == ""'],
    ['a duration of many parts', 'duration(event.text) > duration("1s")'],
  ];
  for (const [name, text] of corpus)
    it(`ends: ${name}`, () => {
      const found = evaluateExpression(text, { event: hostile });
      assert.ok(found.ok || found.error.length < 400);
    });

  it('leaves the process as it was', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen = await storage.run('kept', async () => {
      const found = evaluateExpression('event.numbers.all(x, event.numbers.all(y, x < 0 || y >= 0))', { event: hostile });
      assert.deepEqual(found, { ok: false, error: 'takes longer than 50 ms' });
      await new Promise((resolve) => setImmediate(resolve));
      return storage.getStore();
    });
    assert.equal(seen, 'kept');
    assert.equal(outcomeOf('event.items.exists(item, item.id == 2)'), true);
  });

  it('never throws, whatever the text', () => {
    const words = [
      'event',
      '.a',
      '[0]',
      '.exists(x,',
      'x',
      ')',
      '(',
      '==',
      '&&',
      '"',
      '1',
      '+',
      '!',
      'now',
      ' ',
      '${',
      'matches("(")',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), fc.jsonValue(), (parts, value) => {
        const text = parts.join('');
        const parsed = parseExpression(text);
        const found = evaluateExpression(text, { event: { a: value } });
        assert.ok(parsed.ok || !found.ok);
      }),
    );
  });
});
