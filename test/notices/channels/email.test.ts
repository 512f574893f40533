import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectorError } from '../../../src/connectors/call.js';
import type { Message } from '../../../src/connectors/mail/mail.js';
import { createEmailChannel } from '../../../src/notices/channels/email.js';
import { failing } from '../../connectors/failing.js';

const notice = { subject: 'A1 was not sent', text: 'text', html: '<p>html</p>', json: { chainId: 'c1' } };

describe('notices by e-mail', () => {
  it('are one message to one contact under the given Message-ID', async () => {
    const sent: Message[] = [];
    const mailer = { send: async (message: Message) => void sent.push(message) };
    const channel = createEmailChannel({ mailer, from: 'Relay <relay@example.org>', to: 'ada@example.com' });
    await channel.deliver(notice, 'n1@relay.invalid', { timeoutMs: 1000 });
    const { json: _json, ...rendered } = notice;
    assert.deepEqual(sent, [
      { ...rendered, from: 'Relay <relay@example.org>', to: 'ada@example.com', messageId: 'n1@relay.invalid' },
    ]);
    assert.equal(channel.contact, 'ada@example.com');
  });

  it('fail as the mailer fails', async () => {
    const mailer = { send: () => Promise.reject(new ConnectorError('unknown', 'lost')) };
    const channel = createEmailChannel({ mailer, from: 'relay@example.org', to: 'ada@example.com' });
    assert.equal((await failing(channel.deliver(notice, 'n1@relay.invalid', { timeoutMs: 1000 }))).kind, 'unknown');
  });
});
