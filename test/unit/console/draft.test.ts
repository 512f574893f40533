import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldText } from '../../../src/chain/fields.js';
import { mailHtml } from '../../../src/chain/mail-html.js';
import {
  actionsOf,
  contentsOf,
  draftOf,
  listOf,
  newCard,
  readContents,
  withoutTokens,
} from '../../../src/console/composer/draft.js';

describe('a draft', () => {
  it('is saved without blank fields', () =>
    assert.deepEqual(
      actionsOf([
        newCard({ action: 'sendEmails', emails: ['a@b.example', ' ', ''], subject: '', delayInSeconds: 20 }),
        newCard({ emails: [''] }),
      ]),
      [{ action: 'sendEmails', emails: ['a@b.example'], delayInSeconds: 20 }, {}],
    ));

  it('has neither rules nor tokens', () => {
    const contents = { actions: [{ action: 'x', relayId: '7', relayAccessToken: 'secret' }, { relayId: '8' }] };
    assert.deepEqual(
      draftOf(contents).cards.map(({ fields }) => fields),
      [{ action: 'x' }, {}],
    );
  });

  it('is the same after it has been sent to the API and read back', () => {
    const contents = {
      when: 'event.n > 1',
      variables: { a: { path: 'x.a', missing: 'hold' }, b: { path: 'b', missing: 'default', default: '' } },
      actions: [
        { action: 'sendEmails', body: 'A & B', bodyHtml: '<p>A &amp; B</p>' },
        { action: 'sendEmails', bodyHtml: '<b>x</b>' },
      ],
    };
    assert.deepEqual(contentsOf(draftOf(contents)), contents);
    assert.deepEqual(contentsOf(draftOf(undefined)), { variables: {}, actions: [] });
    assert.deepEqual(contentsOf(draftOf({ later: 7 })), { later: 7, variables: {}, actions: [] });
  });

  it('makes the HTML of a mail from its text, until somebody writes the HTML', () => {
    const [made, written] = actionsOf([
      newCard({ body: 'One <${name}>\nTwo\n\nThree' }),
      newCard({ body: 'x', bodyHtml: '<i>y</i>' }),
    ]);
    assert.equal(made?.bodyHtml, '<p>One &lt;${name}&gt;<br>\nTwo</p>\n<p>Three</p>');
    assert.equal(written?.bodyHtml, '<i>y</i>');
    assert.deepEqual(draftOf({ actions: [{ body: 'x', bodyHtml: mailHtml('x') }] }).cards[0]?.fields, { body: 'x' });
  });

  it('becomes the list of a webhook, with its token or a placeholder', () => {
    const cards = [newCard({ action: 'a', comment: 'x' })];
    assert.deepEqual(listOf(cards, '7', 'rlt_x'), [{ action: 'a', relayId: '7', relayAccessToken: 'rlt_x', comment: 'x' }]);
    assert.equal(listOf(cards, '7')[0]?.relayAccessToken, '<RELAY_ACCESS_TOKEN>');
  });

  it('is stored without tokens even if it cannot be read', () => {
    for (const [written, kept] of [
      ['[{"relayAccessToken": "rlt_x", "action": "a",}]', '[{"relayAccessToken": "", "action": "a",}]'],
      ['[{"relayAccessToken":rlt_x,"action":"a"}', '[{"relayAccessToken":"","action":"a"}'],
      ['[{"relayAccessToken": "rlt_x\n"action": "a"', '[{"relayAccessToken": ""\n"action": "a"'],
    ] as const)
      assert.equal(withoutTokens(written), kept);
  });

  it('is read from JSON, or the error says why not', () => {
    assert.deepEqual(readContents('[{"action":"x"}]'), { contents: { actions: [{ action: 'x' }] }, isList: true });
    assert.deepEqual(readContents('{"when":"true"}'), { contents: { when: 'true' }, isList: false });
    for (const [text, error] of [
      ['7', /must have the form/],
      ['{"actions":{}}', /must have a list of steps/],
      ['[1]', /must have a list of steps/],
      ['[', /is not JSON/],
    ] as const)
      assert.match(readContents(text).error ?? '', error);
  });

  it('shows each field as a text', () => {
    const texts = ['a', 7, ['a', 'b'], { a: 1 }, undefined].map(fieldText);
    assert.deepEqual(texts, ['a', '7', 'a\nb', '{"a":1}', '']);
  });
});
