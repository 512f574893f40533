import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { updateUdf } from '../../../../src/chain/actions.js';
import { type Reading, readAs } from '../../../chain/actions/recorded-issues.js';

const fields = { externalSystemTicketId: 'T-1', cfName: 'Checked in', cfValue: '1709672829' };
const effect = {
  action: 'ticket_updateUDF',
  ticketId: 'T-1',
  field: 'Checked in',
  value: '1709672829',
};

describe('ticket_updateUDF', () => {
  const cases: [what: string, fields: Record<string, unknown>, reading: Partial<Reading<object>>][] = [
    ['an unchanged value', {}, { effect: {} }],
    ['a blank value: clears the field', { cfValue: '' }, { effect: { value: '' } }],
    ['a ticket id with blanks around it', { externalSystemTicketId: ' T-2 ' }, { effect: { ticketId: 'T-2' } }],
    ['a pattern', { cfTargetDateFormat: 'yyyy-MM-dd HH:mm' }, { effect: { dateFormat: 'yyyy-MM-dd HH:mm' } }],
    ['a pattern of DateTimeFormatter only', { cfTargetDateFormat: 'yyyy-MM-dd VV' }, { effect: { dateFormat: 'yyyy-MM-dd VV' } }],
    // When the action runs, the company's time zone decides whether the value can be read.
    [
      'an unparsable timestamp',
      { cfValue: 'soon', cfTargetDateFormat: 'yyyy' },
      { effect: { value: 'soon', dateFormat: 'yyyy' } },
    ],
    [
      'an abbreviation shared by several zones',
      { cfValue: '3/5/2024 4:07 PM IST', cfTargetDateFormat: 'yyyy' },
      { effect: { value: '3/5/2024 4:07 PM IST', dateFormat: 'yyyy' } },
    ],
    [
      'a blank ticket',
      { externalSystemTicketId: ' ' },
      { effect: { ticketId: '' }, mistakes: ['externalSystemTicketId: is blank'] },
    ],
    [
      'an unsubstituted ticket',
      { externalSystemTicketId: '${custom_field_9}' },
      {
        effect: { ticketId: '${custom_field_9}' },
        mistakes: ['externalSystemTicketId: has no value: the webhook did not fill in "${custom_field_9}"'],
      },
    ],
    ['a blank name', { cfName: '' }, { effect: { field: '' }, mistakes: ['cfName: is blank'] }],
    [
      'an unsubstituted value',
      { cfValue: 'at ${checked_in_on}' },
      {
        effect: { value: 'at ${checked_in_on}' },
        mistakes: ['cfValue: has ${checked_in_on}, which the webhook did not fill in'],
      },
    ],
    [
      'an unsubstituted pattern',
      { cfTargetDateFormat: '${format}' },
      {
        effect: { dateFormat: '${format}' },
        mistakes: ['cfTargetDateFormat: has no value: the webhook did not fill in "${format}"'],
      },
    ],
    ['a blank pattern', { cfTargetDateFormat: '' }, { effect: { dateFormat: '' }, mistakes: ['cfTargetDateFormat: is blank'] }],
    [
      'several mistakes: all are named',
      { externalSystemTicketId: '', cfName: ' ', cfValue: '${x}' },
      {
        effect: { ticketId: '', field: ' ', value: '${x}' },
        mistakes: [
          'externalSystemTicketId: is blank',
          'cfName: is blank',
          'cfValue: has ${x}, which the webhook did not fill in',
        ],
      },
    ],
    [
      'nothing',
      { externalSystemTicketId: undefined, cfName: undefined, cfValue: undefined },
      { problems: ['externalSystemTicketId: is required', 'cfName: is required', 'cfValue: is required'] },
    ],
    ['null for a value', { cfValue: null }, { problems: ['cfValue: must be a string'] }],
    [
      'a ticket id that is too long',
      { externalSystemTicketId: 'x'.repeat(257) },
      { problems: ['externalSystemTicketId: must have at most 256 characters'] },
    ],
  ];
  for (const [what, given, { effect: changed, ...found }] of cases) {
    it(what, () => {
      assert.deepEqual(readAs(updateUdf, { ...fields, ...given }), {
        effect: changed && { ...effect, ...changed },
        problems: [],
        mistakes: [],
        warnings: [],
        ...found,
      });
    });
  }

  for (const [cfTargetDateFormat, letter] of [
    ["yyyy-MM-dd'T", "'"],
    ['jj', 'j'],
    ['{yyyy}b', 'b'],
  ] as const) {
    it(`refuses the pattern ${cfTargetDateFormat}, even if a field is missing`, () => {
      const { effect, problems } = readAs(updateUdf, { ...fields, cfName: undefined, cfTargetDateFormat });
      assert.equal(effect, undefined);
      assert.equal(problems[0], 'cfName: is required');
      assert.match(problems[1] ?? '', /^cfTargetDateFormat: /);
      assert.ok(problems[1]?.includes(`: “${letter}” `), problems[1]);
    });
  }

  for (const [cfTargetDateFormat, warning] of [
    ['u/M', /weekday/],
    ['YYYY-MM-dd', /week/],
  ] as const) {
    it(`warns of ${cfTargetDateFormat}`, () => {
      const { warnings, mistakes, problems } = readAs(updateUdf, { ...fields, cfTargetDateFormat });
      assert.deepEqual([warnings.length, mistakes, problems], [1, [], []]);
      assert.match(warnings[0] ?? '', warning);
    });
  }
});
