import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { calendarDay, epochDayOf, NO_REFORM, REFORM } from '../../../../src/chain/timestamp/moment.js';

const day = fc.integer({ min: -99_999_999, max: 99_999_999 });

describe('calendar', () => {
  it('names every day as JavaScript does in a purely Gregorian calendar', () => {
    fc.assert(
      fc.property(day, (epochDay) => {
        const date = new Date(epochDay * 86_400_000);
        const { year, month, day, weekday } = calendarDay(epochDay, NO_REFORM);
        const expected = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay() + 1];
        assert.deepEqual([year, month, day, weekday], expected);
      }),
    );
  });

  it('finds a day by year, month and day, in both calendars', () => {
    fc.assert(
      fc.property(day, fc.constantFrom(REFORM, NO_REFORM), (epochDay, reform) => {
        const { year, month, day } = calendarDay(epochDay, reform);
        assert.equal(epochDayOf(year, month, day, reform), epochDay);
      }),
    );
  });

  it('goes from Thursday, 4 October 1582 (Julian) to Friday, 15 October (Gregorian)', () => {
    const days = [REFORM - 1, REFORM].map((epochDay) => calendarDay(epochDay, REFORM));
    assert.deepEqual(
      days.map(({ year, month, day, weekday, dayOfYear, daysIntoMonth }) => [
        year,
        month,
        day,
        weekday,
        dayOfYear,
        daysIntoMonth,
      ]),
      [
        [1582, 10, 4, 5, 277, 3],
        [1582, 10, 15, 6, 278, 4],
      ],
    );
  });
});
