import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxRecipients, sendEmails } from '../../../../src/chain/actions.js';
import { type Reading, readAs } from '../../../chain/actions/recorded-issues.js';

const message = { subject: 'Hello', body: 'text', bodyHtml: '<p>text</p>' };
const noRecipient = 'emails: has no valid e-mail address: every recipient is blank or invalid';
const many = (count: number) => Array.from({ length: count }, (_, n) => `w${n}@x.org`);

describe('sendEmails', () => {
  type Expected = Partial<Omit<Reading<unknown>, 'effect'>> & { recipients?: string[] };
  const cases: [what: string, fields: Record<string, unknown>, expected: Expected][] = [
    ['one recipient', { emails: ['a@x.org'] }, { recipients: ['a@x.org'] }],
    ['a list in an element', { emails: ['a@x.org,b@x.org', 'c@x.org'] }, { recipients: ['a@x.org', 'b@x.org', 'c@x.org'] }],
    ['display names with commas', { emails: ['"Doe, J" <j@x.org>'] }, { recipients: ['"Doe, J" <j@x.org>'] }],
    ['duplicates', { emails: ['a@x.org', 'A@x.org,a@x.org'] }, { recipients: ['a@x.org'] }],
    [
      'invalid addresses with a valid one',
      { emails: ['a@x.org', 'none,b@', '${owner_email}'] },
      {
        recipients: ['a@x.org'],
        warnings: [
          'emails: has the entry "none", which is no e-mail address; the relay leaves it out',
          'emails: has the entry "b@", which is no e-mail address; the relay leaves it out',
          'emails: has the entry "${owner_email}", which is no e-mail address; the relay leaves it out',
        ],
      },
    ],
    [
      'blank elements with a valid address',
      { emails: ['', 'a@x.org', ' '] },
      { recipients: ['a@x.org'], warnings: ['emails/0: is blank and is left out', 'emails/2: is blank and is left out'] },
    ],
    ['only blanks', { emails: ['', ' , '] }, { recipients: [], mistakes: [noRecipient] }],
    [
      'only invalid addresses',
      { emails: ['none', '${a}@x.org'] },
      {
        recipients: [],
        mistakes: [noRecipient],
        warnings: [
          'emails: has the entry "none", which is no e-mail address',
          'emails: has the entry "${a}@x.org", which is no e-mail address',
        ],
      },
    ],
    ['the maximum number of recipients', { emails: [many(maxRecipients).join()] }, { recipients: many(maxRecipients) }],
    [
      'one recipient too many',
      { emails: [many(maxRecipients).join(), 'a@x.org'] },
      { problems: ['emails: has 51 recipients; at most 50 are allowed'] },
    ],
    [
      'one recipient too many, but one is given twice',
      { emails: [...many(maxRecipients), 'W0@x.org'] },
      { recipients: many(maxRecipients) },
    ],
    ['no element', { emails: [] }, { problems: ['emails: needs at least one element'] }],
    ['no emails', {}, { problems: ['emails: is required'] }],
    [
      'a text instead of an array',
      { emails: 'a@x.org' },
      { problems: ['emails: must be an array of strings, such as ["dispatch@example.com"]'] },
    ],
    ['null in the array', { emails: ['a@x.org', null] }, { problems: ['emails/1: must be a string'] }],
    ['an array in the array', { emails: [['a@x.org']] }, { problems: ['emails/0: must be a string'] }],
    [
      'no message',
      { emails: ['a@x.org'], subject: undefined, body: undefined, bodyHtml: null },
      { problems: ['subject: is required', 'body: is required', 'bodyHtml: must be a string'] },
    ],
    [
      'several problems: all are named',
      { emails: many(51), subject: undefined },
      { problems: ['emails: has 51 recipients; at most 50 are allowed', 'subject: is required'] },
    ],
    [
      'a variable left in the text',
      { emails: ['a@x.org'], body: 'Hello ${resource_name} and ${x}' },
      {
        recipients: ['a@x.org'],
        warnings: ['body: has ${resource_name}, which the webhook did not fill in and which is sent unchanged'],
      },
    ],
    ['a blank message', { emails: ['a@x.org'], subject: '', body: '', bodyHtml: '' }, { recipients: ['a@x.org'] }],
  ];
  for (const [what, fields, { recipients, ...found }] of cases) {
    it(what, () => {
      const sent = { ...message, ...fields };
      assert.deepEqual(readAs(sendEmails, sent), {
        effect: recipients && {
          action: 'sendEmails',
          recipients,
          subject: sent.subject,
          body: sent.body,
          bodyHtml: sent.bodyHtml,
        },
        problems: [],
        mistakes: [],
        warnings: [],
        ...found,
      });
    });
  }
});
