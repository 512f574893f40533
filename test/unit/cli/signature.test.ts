import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../../../src/cli/commands/send.js';
import { UsageError } from '../../../src/cli/terminal.js';

describe('the signature of a webhook', () => {
  it('matches Standard Webhooks', () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const body = Buffer.from('[{"comment":"Zürich 東京"}]');
    const headers = signatureHeaders(secret, 'k 1', body);
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers));
    assert.throws(() => new Webhook(secret).verify('[{}]', headers));
  });

  it('needs a secret of the right form, and does not echo it', () => {
    for (const secret of ['', 's3cret', 'whsec_', 'whsec_s3cret!'])
      assert.throws(
        () => signatureHeaders(secret, 'x', Buffer.from('')),
        (error) => error instanceof UsageError && !error.message.includes('s3cret'),
      );
  });
});
