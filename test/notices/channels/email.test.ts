import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { ConnectorError } from '../../../src/connectors/call.js';
import { createConnectors } from '../../../src/connectors/connectors.js';
import type { Mailer, Message } from '../../../src/connectors/mail.js';
import type { NoticeChannel } from '../../../src/notices/channels/channel.js';
import { channelsOf } from '../../../src/notices/channels/channels.js';
import { failing } from '../../connectors/failing.js';

const notice = { subject: 'A1 was not sent', text: 'text', html: '<p>html</p>', json: { chainId: 'c1' } };

const { http, close } = createConnectors({ allowPrivateNetworks: false, mailFrom: '' });
after(close);

function channelTo(address: string, mail: { mailer: Mailer; from: string }): NoticeChannel {
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
  const [channel] = channelsOf({ http, noticeMailOf: () => mail }, company, { emails: [address] });
  assert.ok(channel);
  return channel;
}

describe('notices by e-mail', () => {
  it('are one message to one contact under the given Message-ID', async () => {
    const sent: Message[] = [];
    const mailer = { send: async (message: Message) => void sent.push(message) };
    const channel = channelTo('ada@example.com', { mailer, from: 'Relay <relay@example.org>' });
    await channel.deliver(notice, 'n1@relay.invalid', { timeoutMs: 1000 });
    const { json: _json, ...rendered } = notice;
    assert.deepEqual(sent, [
      { ...rendered, from: 'Relay <relay@example.org>', to: 'ada@example.com', messageId: 'n1@relay.invalid' },
    ]);
    assert.equal(channel.contact, 'ada@example.com');
  });

  it('fail as the mailer fails', async () => {
    const mailer = { send: () => Promise.reject(new ConnectorError('unknown', 'lost')) };
    const channel = channelTo('ada@example.com', { mailer, from: 'relay@example.org' });
    assert.equal((await failing(channel.deliver(notice, 'n1@relay.invalid', { timeoutMs: 1000 }))).kind, 'unknown');
  });
});
