import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sendAssignment } from '../../../../src/chain/actions.js';
import { type Reading, readAs } from '../../../chain/actions/recorded-issues.js';

const action = 'platform_sendAssignment';
const noGroup = 'has no group: an empty field does not mean "send to everybody"';
const notMiles = 'sendRadius: must be a number of miles, such as "25" or "2.5"';

describe('platform_sendAssignment', () => {
  const cases: [what: string, fields: Record<string, unknown>, reading: Partial<Reading<object>>][] = [
    ['neither group nor radius: the platform decides', {}, { effect: {} }],
    ['one group', { groupId: '501' }, { effect: { groupIds: ['501'] } }],
    ['several groups', { sendToGroups: '501,502' }, { effect: { groupIds: ['501', '502'] } }],
    ['blanks around groups', { groupId: ' 501 ', sendToGroups: ' 502 ,\t503 ' }, { effect: { groupIds: ['501', '502', '503'] } }],
    [
      'both: the union, in order, without duplicates or blanks',
      { groupId: '503', sendToGroups: '501,,503, ,502,501,' },
      { effect: { groupIds: ['503', '501', '502'] } },
    ],
    ['a group with blanks inside', { sendToGroups: 'north side,south' }, { effect: { groupIds: ['north side', 'south'] } }],
    ['a blank groupId beside groups', { groupId: ' ', sendToGroups: '501' }, { effect: { groupIds: ['501'] } }],
    ['blank sendToGroups beside a group', { groupId: '501', sendToGroups: '' }, { effect: { groupIds: ['501'] } }],
    ['a blank groupId', { groupId: '' }, { effect: { groupIds: [] }, mistakes: [`groupId: ${noGroup}`] }],
    ['blank sendToGroups', { sendToGroups: ' , ,' }, { effect: { groupIds: [] }, mistakes: [`sendToGroups: ${noGroup}`] }],
    ['both blank', { groupId: '', sendToGroups: '' }, { effect: { groupIds: [] }, mistakes: [`sendToGroups: ${noGroup}`] }],
    ['an unsubstituted group', { groupId: '${g}' }, { effect: { groupIds: [] }, mistakes: [`groupId: ${noGroup}`] }],
    [
      'only unsubstituted groups',
      { sendToGroups: '${a},${b}' },
      { effect: { groupIds: [] }, mistakes: [`sendToGroups: ${noGroup}`] },
    ],
    [
      'an unsubstituted group beside others',
      { sendToGroups: '501,${custom_field_7}' },
      {
        effect: { groupIds: ['501'] },
        warnings: ['sendToGroups: has "${custom_field_7}", which the webhook did not fill in and which is left out'],
      },
    ],
    [
      'an unsubstituted groupId beside groups',
      { groupId: '${g}', sendToGroups: '501' },
      {
        effect: { groupIds: ['501'] },
        warnings: ['groupId: has "${g}", which the webhook did not fill in and which is left out'],
      },
    ],
    ['a radius', { sendRadius: '25' }, { effect: { radiusMiles: 25 } }],
    ['a radius with a fraction', { sendRadius: ' 2.5 ' }, { effect: { radiusMiles: 2.5 } }],
    ['no radius at all', { sendRadius: '0' }, { effect: { radiusMiles: 0 } }],
    ['a blank radius', { sendRadius: '' }, { effect: {}, mistakes: ['sendRadius: is blank (a number of miles is needed)'] }],
    [
      'a radius of spaces',
      { sendRadius: '  ' },
      { effect: {}, mistakes: ['sendRadius: is blank (a number of miles is needed)'] },
    ],
    [
      'an unsubstituted radius',
      { sendRadius: '${custom_field_0123456789abcdef0123456789abcdef0123456789abcdef}' },
      {
        effect: {},
        mistakes: [
          'sendRadius: has no value: the webhook did not fill in "${custom_field_0123456789abcdef0123456789abcdef0123456789abcdef}" (a ' +
            'number of miles is needed)',
        ],
      },
    ],
    ...['-5', '+5', '1e3', '.5', '2.', '2,5', '25 miles', '25mi', 'abc', '0x10', 'Infinity', '٢٥', '1234567890', '1 2'].map(
      (sendRadius): [string, Record<string, unknown>, Partial<Reading<object>>] => [
        `the radius "${sendRadius}"`,
        { sendRadius },
        { problems: [notMiles] },
      ],
    ),
    ['an object for a group', { groupId: {} }, { problems: ['groupId: must be a string'] }],
    ['null for a radius', { sendRadius: null }, { problems: ['sendRadius: must be a string'] }],
    ['a list of groups', { sendToGroups: ['501'] }, { problems: ['sendToGroups: must be a string'] }],
    ['a group that is too long', { groupId: 'x'.repeat(1001) }, { problems: ['groupId: must have at most 1000 characters'] }],
    ['two problems: both are named', { groupId: null, sendRadius: 'far' }, { problems: ['groupId: must be a string', notMiles] }],
  ];
  for (const [what, fields, { effect, ...found }] of cases) {
    it(what, () => {
      assert.deepEqual(readAs(sendAssignment, fields), {
        effect: effect && { action, ...effect },
        problems: [],
        mistakes: [],
        warnings: [],
        ...found,
      });
    });
  }
});
