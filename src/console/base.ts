/** What most pages need: addresses, requests, the user, announcements and forms. */

export * from './addresses.js';
export * from './announce.js';
export * from './api.js';
export * from './form.js';
export * from './resource.js';
export * from './session.js';
