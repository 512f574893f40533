import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsOf } from '../../../src/cli/options.js';

describe('settings from options', () => {
  it('override the settings of a file, section by section', () => {
    const file = {
      name: 'Acme',
      mail: { from: 'a@acme.example', replyTo: 'b@acme.example' },
      platform: { kind: 'http', auth: { type: 'basic', username: 'u', password: 'p' } },
      ticketing: null,
      notify: null,
    };
    const given = {
      mailFrom: { mail: { from: 'c@acme.example' } },
      platformToken: { platform: { auth: { type: 'bearer', token: 't' } } },
      ticketingUrl: { ticketing: { kind: 'http', baseUrl: 'https://t.example' } },
      timeZone: { timeZone: 'UTC' },
      name: undefined,
    };
    assert.deepEqual(settingsOf(given, file), {
      name: 'Acme',
      mail: { from: 'c@acme.example', replyTo: 'b@acme.example' },
      platform: { kind: 'http', auth: { type: 'bearer', token: 't' } },
      ticketing: { kind: 'http', baseUrl: 'https://t.example' },
      notify: null,
      timeZone: 'UTC',
    });
  });

  it('fill one section from several options', () => {
    const given = { mailFrom: { mail: { from: 'a@acme.example' } }, mailReplyTo: { mail: { replyTo: 'b@acme.example' } } };
    assert.deepEqual(settingsOf(given), { mail: { from: 'a@acme.example', replyTo: 'b@acme.example' } });
    assert.deepEqual(settingsOf({}), {});
  });
});
