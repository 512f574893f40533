/** Timestamps as the rules name them: Java patterns, exact to the JDK, and the forms in which a webhook may send a value. */
export { formatTimestamp, type Pattern, parsePattern } from './pattern.js';
export { readTimestamp } from './read.js';
export { isTimeZone } from './zone.js';
