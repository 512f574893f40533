import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bodyOf,
  cardsOf,
  delayOf,
  elementsOf,
  fieldText,
  moved,
  newCard,
  otherRules,
  railOf,
  readElements,
  withoutTokens,
} from '../../../src/console/composer/draft.js';
import { durationText } from '../../../src/console/when.js';

describe('a draft', () => {
  it('is sent without blank fields, and with its rule', () =>
    assert.deepEqual(
      elementsOf(
        [
          newCard({ action: 'sendEmails', emails: ['a@b.example', ' ', ''], subject: '', delayInSeconds: 20 }),
          newCard({ emails: [''] }),
        ],
        '7',
      ),
      [
        { action: 'sendEmails', relayId: '7', emails: ['a@b.example'], delayInSeconds: 20 },
        { action: undefined, relayId: '7' },
      ],
    ));

  it("has no token, and an action's rule only if it differs", () =>
    assert.deepEqual(
      cardsOf([{ action: 'x', relayId: '7', relayAccessToken: 'secret' }, { relayId: '8' }], '7').map(({ fields }) => fields),
      [{ action: 'x' }, { relayId: '8' }],
    ));

  it('knows which of its actions belong to another rule', () => {
    const cards = cardsOf([{ relayId: 8 }, { relayId: '7' }, {}, { relayId: '' }, { relayId: '8' }, { relayId: '9' }], '7');
    assert.deepEqual(
      [...otherRules(cards, '7')],
      [
        ['8', [0, 4]],
        ['9', [5]],
      ],
    );
  });

  it('is stored without tokens even if it cannot be read', () => {
    for (const [written, kept] of [
      ['[{"relayAccessToken": "rlt_x", "action": "a",}]', '[{"relayAccessToken": "", "action": "a",}]'],
      ['[{"relayAccessToken":rlt_x,"action":"a"}', '[{"relayAccessToken":"","action":"a"}'],
      ['[{"relayAccessToken": "rlt_x\n"action": "a"', '[{"relayAccessToken": ""\n"action": "a"'],
    ] as const)
      assert.equal(withoutTokens(written), kept);
  });

  it('becomes a body that says whether a token is missing', () => {
    const [own, other] = [
      { action: 'a', relayId: '7', comment: 'x' },
      { action: 'a', relayId: '8' },
    ];
    const tokens = ({ body }: { body: string }) => JSON.parse(body).map((element: typeof own) => Object.values(element)[2]);
    for (const [elements, token, expected, lacksToken] of [
      [[own], 'rlt_x', ['rlt_x'], false],
      [[own], '', ['<RELAY_ACCESS_TOKEN>'], true],
      [[own, other], 'rlt_x', ['rlt_x', '<RELAY_ACCESS_TOKEN>'], true],
    ] as const) {
      const made = bodyOf(elements, '7', token);
      assert.deepEqual(tokens(made), expected);
      assert.equal(made.lacksToken, lacksToken);
    }
  });

  it('is moved by one place, not beyond its ends', () => {
    const cards = [newCard({}), newCard({}), newCard({})];
    const keys = (list: typeof cards) => list.map(({ key }) => key - (cards[0]?.key ?? 0));
    assert.deepEqual(keys(moved(cards, 1, -1)), [1, 0, 2]);
    assert.deepEqual(keys(moved(cards, 1, 1)), [0, 2, 1]);
    assert.deepEqual(keys(moved(cards, 0, -1)), [0, 1, 2]);
    assert.deepEqual(keys(moved(cards, 2, 1)), [0, 1, 2]);
  });

  it('orders actions on a rail: immediate ones, then by delay, then unknown delays', () => {
    const delays = ['20', '', '${custom_field_1}', '0', '5', '20', undefined, '30 minutes'];
    assert.deepEqual(railOf(delays.map((delayInSeconds) => newCard({ delayInSeconds }))), [
      { delay: 0, places: [1, 3, 6] },
      { delay: 5, places: [4] },
      { delay: 20, places: [0, 5] },
      { delay: 'event', places: [2] },
      { delay: 'wrong', places: [7] },
    ]);
    assert.equal(delayOf({ delayInSeconds: 90 }), 90);
  });

  it('is read from JSON, or the error says why not', () => {
    assert.deepEqual(readElements('[{"action":"x"}]').elements, [{ action: 'x' }]);
    for (const [text, error] of [
      ['{}', /must be an array/],
      ['[1]', /element 0 must be an object/],
      ['[', /is not JSON/],
    ] as const)
      assert.match(readElements(text).error ?? '', error);
  });

  it('shows each field as a text', () => {
    const texts = ['a', 7, ['a', 'b'], { a: 1 }, undefined].map(fieldText);
    assert.deepEqual(texts, ['a', '7', 'a\nb', '{"a":1}', '']);
  });
});

it('a duration is shown in its two largest units', () => {
  const texts = [0, 1, 59, 60, 3900, 90_061].map(durationText);
  assert.deepEqual(texts, ['0 seconds', '1 second', '59 seconds', '1 minute', '1 hour 5 minutes', '1 day 1 hour']);
});
