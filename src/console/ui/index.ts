/** The parts of pages. */

export * from './dialog.js';
export * from './fields.js';
export * from './known.js';
export * from './table.js';
export * from './text.js';
