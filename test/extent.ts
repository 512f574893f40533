/** `npm test -- release` sets this variable. */
export const isRelease = process.env.RELAY_TEST_RELEASE === '1';

/** The size of a test: `short` for each change, `whole` for a release. Both have the same assertions. */
export function extent<Much>(short: Much, whole: Much): Much {
  return isRelease ? whole : short;
}
