import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTimestamp, parsePattern } from '../../../../src/chain/timestamp/pattern.js';
import { readTimestamp } from '../../../../src/chain/timestamp/read.js';

const BERLIN = 'Europe/Berlin';
const NEW_YORK = 'America/New_York';

function read(text: string, zone: string): string {
  const result = readTimestamp(text, zone);
  return result.ok ? new Date(result.epochMillis).toISOString() : result.error;
}

describe('reading a timestamp', () => {
  const readable: [text: string, zone: string, expected: string][] = [
    // Unix
    ['1709672829', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['1709672829.045', BERLIN, '2024-03-05T21:07:09.045Z'],
    ['1709672829045', BERLIN, '2024-03-05T21:07:09.045Z'],
    [' 0 ', BERLIN, '1970-01-01T00:00:00.000Z'],
    ['-1', BERLIN, '1969-12-31T23:59:59.000Z'],
    ['99999999999', BERLIN, '5138-11-16T09:46:39.000Z'],
    ['100000000000', BERLIN, '1973-03-03T09:46:40.000Z'],
    ['20240305', BERLIN, '1970-08-23T06:18:25.000Z'],
    // ISO-8601
    ['2024-03-05T21:07:09.045Z', BERLIN, '2024-03-05T21:07:09.045Z'],
    ['2024-03-05T21:07:09.045678912Z', BERLIN, '2024-03-05T21:07:09.045Z'],
    ['2024-03-05T16:07:09,5-05:00', BERLIN, '2024-03-05T21:07:09.500Z'],
    ['2024-03-05T16:07:09-0500', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['2024-03-05T16:07-05', BERLIN, '2024-03-05T21:07:00.000Z'],
    ['2024-03-05T22:07:09', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['2024-03-05 22:07:09', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['2024-03-05 21:07:09 UTC', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['2024-03-05', BERLIN, '2024-03-04T23:00:00.000Z'],
    ['2024-03-05', '+05:30', '2024-03-04T18:30:00.000Z'],
    ['20240305T210709Z', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['2024-02-29', 'UTC', '2024-02-29T00:00:00.000Z'],
    ['0099-12-31', 'UTC', '0099-12-31T00:00:00.000Z'],
    ['+012345-01-01T00:00:00Z', BERLIN, '+012345-01-01T00:00:00.000Z'],
    // RFC 1123, 2822
    ['Tue, 5 Mar 2024 21:07:09 GMT', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['Tue, 05 Mar 2024 16:07:09 -0500 (EST)', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['5 mar 2024 16:07 EST', BERLIN, '2024-03-05T21:07:00.000Z'],
    ['Tue, 5 Mar 2024 22:07:09', BERLIN, '2024-03-05T21:07:09.000Z'],
    // java.util.Date
    ['Tue Mar 05 16:07:09 EST 2024', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['Tue Mar 05 13:07:09 PST 2024', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['Tue Mar 05 21:07:09 UTC 2024', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['Wed Mar 06 02:37:09 GMT+05:30 2024', BERLIN, '2024-03-05T21:07:09.000Z'],
    ['Tue Mar  5 22:07:09 2024', BERLIN, '2024-03-05T21:07:09.000Z'],
    // M/d/yyyy
    ['3/5/2024', NEW_YORK, '2024-03-05T05:00:00.000Z'],
    ['03/05/2024 4:07 PM', NEW_YORK, '2024-03-05T21:07:00.000Z'],
    ['3/5/2024 4:07:09 pm', NEW_YORK, '2024-03-05T21:07:09.000Z'],
    ['3/5/2024, 4:07:09\u202fPM', NEW_YORK, '2024-03-05T21:07:09.000Z'],
    ['3/5/2024 12:07 AM', 'UTC', '2024-03-05T00:07:00.000Z'],
    ['3/5/2024 12:07 PM', 'UTC', '2024-03-05T12:07:00.000Z'],
    ['3/5/2024 4:07 PM PST', NEW_YORK, '2024-03-06T00:07:00.000Z'],
    ['3/5/2024 4:07 PM America/Los_Angeles', NEW_YORK, '2024-03-06T00:07:00.000Z'],
    ['3/5/2024 +02:00', NEW_YORK, '2024-03-04T22:00:00.000Z'],
    // A skipped time moves forward. A time that comes twice means the first of the two, unless the text names the zone.
    ['2024-03-10T02:30:00', NEW_YORK, '2024-03-10T07:30:00.000Z'],
    ['2024-11-03T01:30:00', NEW_YORK, '2024-11-03T05:30:00.000Z'],
    ['Sun Nov 03 01:30:00 EST 2024', NEW_YORK, '2024-11-03T06:30:00.000Z'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
    ['2024-04-07T01:45:00', 'Australia/Lord_Howe', '2024-04-06T14:45:00.000Z'],
    // The name stays the same while its offset changes from +10:00 to +10:30.
    ['Sun Mar 01 02:46:01 LHST 1981', 'Australia/Lord_Howe', '1981-02-28T16:16:01.000Z'],
    ['Sat Feb 28 23:46:01 LHST 1981', 'Australia/Lord_Howe', '1981-02-28T13:46:01.000Z'],
    // An abbreviation is looked up in the company's zone first, then in RFC 2822, then in all zones if they agree.
    ['Tue Mar 05 16:07:09 CST 2024', NEW_YORK, '2024-03-05T22:07:09.000Z'],
    ['Tue Mar 05 16:07:09 CST 2024', 'Asia/Shanghai', '2024-03-05T08:07:09.000Z'],
    ['Tue Mar 05 16:07:09 IST 2024', 'Asia/Kolkata', '2024-03-05T10:37:09.000Z'],
    ['Fri Jul 05 16:07:09 IST 2024', 'Europe/Dublin', '2024-07-05T15:07:09.000Z'],
    ['Tue Mar 05 16:07:09 CET 2024', NEW_YORK, '2024-03-05T15:07:09.000Z'],
    ['Fri Jul 05 16:07:09 CEST 2024', NEW_YORK, '2024-07-05T14:07:09.000Z'],
    ['Fri Jul 05 16:07:09 EST 2024', NEW_YORK, '2024-07-05T21:07:09.000Z'],
    ['Tue Mar 05 16:07:09 ChST 2024', NEW_YORK, '2024-03-05T06:07:09.000Z'],
  ];
  for (const [text, zone, expected] of readable)
    it(`"${text}" in ${zone} is ${expected}`, () => assert.equal(read(text, zone), expected));

  const unreadable: [text: string, problem: string][] = [
    ['', ''],
    ['tomorrow', ''],
    ['$' + '{checked_in_on}', ''],
    ['2024-13-05', ' (there is no month 13)'],
    ['2024-00-05', ' (there is no month 00)'],
    ['2024-02-30', ' (February 2024 has no day 30)'],
    ['2023-02-29T00:00:00Z', ' (February 2023 has no day 29)'],
    ['2024-03-00', ' (March 2024 has no day 00)'],
    ['2024-03-05T25:00:00Z', ' (there is no such time of day)'],
    ['2024-03-05T24:00:00Z', ' (there is no such time of day)'],
    ['2024-03-05T16:60:00Z', ' (there is no such time of day)'],
    ['2024-03-05T16:07:60Z', ' (there is no such time of day)'],
    ['2024-03-05T16:07:09+25:00', ' (there is no time zone +25:00)'],
    ['2024-3-5', ''],
    ['2024-03-05T16:07:09Z and more', ''],
    ['Mon, 5 Mar 2024 16:07:09 GMT', ' (that day is a Tuesday, not Mon)'],
    ['5 Mxr 2024 16:07:09 GMT', ' (there is no month Mxr)'],
    ['Tue Mar 05 16:07:09 XYZ 2024', ' (there is no time zone XYZ)'],
    ['Tue Mar 05 16:07:09 IST 2024', ' (IST is the name of several time zones; send an offset such as +05:30)'],
    ['3/5/2024 4:07 PM Mars/Olympus', ' (there is no time zone Mars/Olympus)'],
    ['13/5/2024', ' (there is no month 13)'],
    ['3/5/2024 0:07 PM', ' (there is no such time of day)'],
    ['3/5/2024 13:07 PM', ' (there is no such time of day)'],
    ['3/5/2024 16:07', ''],
    ['3/5/24', ''],
    ['1e9', ''],
    ['99999999999999999999', ' (the time is too far in the past or the future)'],
    ['+999999-01-01', ' (the time is too far in the past or the future)'],
  ];
  for (const [text, problem] of unreadable)
    it(`"${text}" is not read${problem}`, () => {
      const error = read(text, 'UTC');
      assert(
        error.startsWith(`"${text}" is not a date or time that the relay can read${problem}; possible forms: Unix seconds`),
        error,
      );
    });

  it('shows a long value cut short', () => {
    assert.match(read('x'.repeat(10_000), 'UTC'), /^"x{59}…" is not a date or time that the relay can read; possible forms/);
  });

  it('reads back its own output in the same zone', () => {
    const written = [
      "yyyy-MM-dd'T'HH:mm:ss",
      'EEE, d MMM yyyy HH:mm:ss Z',
      'EEE MMM dd HH:mm:ss zzz yyyy',
      'M/d/yyyy h:mm:ss a XXX',
    ];
    const zones = [
      'America/New_York',
      'Europe/London',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'America/St_Johns',
      '-03:30',
    ];
    const seconds = fc.integer({ min: Date.UTC(1980, 0) / 1000, max: Date.UTC(2036, 0) / 1000 });
    fc.assert(
      fc.property(seconds, fc.constantFrom(...zones), fc.constantFrom(...written), (second, zone, form) => {
        const parsed = parsePattern(form);
        assert(parsed.ok);
        const text = formatTimestamp(parsed.pattern, second * 1000, zone);
        const result = readTimestamp(text, zone);
        assert(result.ok);
        // In an overlap, a text without a zone has two possible instants, and the reader returns the earlier instant.
        assert(result.epochMillis <= second * 1000);
        assert.equal(formatTimestamp(parsed.pattern, result.epochMillis, zone), text);
      }),
    );
  });
});
