import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { DecryptionError, Keyring } from '../../../src/contract/encryption.js';
import { payloadCodec } from '../../../src/service/payloads.js';

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const keyring = new Keyring(`${key('new', 2)},${key('old', 1)}`);
const codec = payloadCodec(keyring);
const within = (workflowId: string) => ({ type: 'workflow', namespace: 'default', workflowId }) as const;
const plain = defaultPayloadConverter.toPayload({ to: 'jane@example.org' });
const metadataOf = ({ metadata }: Payload) =>
  Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, String(value)]));
const encoded = async (workflowId?: string, by = codec): Promise<Payload> => {
  const [payload] = await by.encode([plain], workflowId === undefined ? undefined : within(workflowId));
  return payload ?? assert.fail();
};
const reads = async (payload: Payload, workflowId?: string) => {
  const [read] = await codec.decode([payload], workflowId === undefined ? undefined : within(workflowId));
  return read && defaultPayloadConverter.fromPayload(read);
};

describe('a payload', () => {
  for (const [workflowId, company] of Object.entries({
    'relay:acme:0f5c1d7e': 'acme',
    'relay:acme:0f5c1d7e:2': 'acme',
    'relay-notifier:acme:0f5c1d7e': 'acme',
    'relay-notice-test:acme:0f5c1d7e': 'acme',
    'relay-check:a-c_me1:0f5c1d7e': 'a-c_me1',
    'relay-bulk:0f5c1d7e': undefined,
    other: undefined,
  }))
    it(`of the workflow ${workflowId} ${company ? `is encrypted for ${company}` : 'belongs to no company'}`, async () => {
      const payload = await encoded(workflowId);
      const named = {
        encoding: 'binary/encrypted',
        'encryption-key-id': 'new',
        ...(company && { 'encryption-company': company }),
      };
      assert.deepEqual(metadataOf(payload), named);
      assert.deepEqual(await reads(payload, workflowId), { to: 'jane@example.org' });
    });

  it("of one company is refused in another company's workflow; the error names the workflow", async () => {
    const moved = await encoded('relay:acme:1');
    await assert.rejects(reads(moved, 'relay:other:1'), {
      name: 'DecryptionError',
      message: 'the payload belongs to company acme, but the workflow belongs to company other',
    });
  });

  for (const [how, metadata] of Object.entries({
    'names another company': { 'encryption-company': Buffer.from('other') },
    'has lost its company': { 'encryption-company': Buffer.alloc(0) },
  }))
    it(`that ${how} is refused`, async () => {
      const payload = await encoded('relay:acme:1');
      const changed = { ...payload, metadata: { ...payload.metadata, ...metadata } };
      await assert.rejects(reads(changed, 'relay:other:1'), DecryptionError);
      await assert.rejects(reads(changed), DecryptionError);
    });

  it("without its company's name is refused", async () => {
    const { metadata, data } = await encoded('relay:acme:1');
    delete metadata?.['encryption-company'];
    await assert.rejects(reads({ metadata, data }, 'relay:other:1'), /changed or moved/);
  });

  it('of every company is readable outside a workflow, for example by the codec server', async () => {
    assert.deepEqual(await reads(await encoded('relay:acme:1')), { to: 'jane@example.org' });
  });

  it('that a person typed, for no workflow, is readable in every workflow', async () => {
    assert.deepEqual(await reads(await encoded(), 'relay:acme:1'), { to: 'jane@example.org' });
  });

  it("from before the companies' keys is still readable", async () => {
    const bytes = proto.temporal.api.common.v1.Payload.encode(plain).finish();
    const { keyId, data } = new Keyring(key('old', 1)).encrypt(bytes, 'temporal payload');
    const metadata = { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from(keyId) };
    assert.deepEqual(await reads({ metadata, data }, 'relay:acme:1'), { to: 'jane@example.org' });
  });

  it('of an older key is readable as long as the key exists', async () => {
    const older = await encoded('relay:acme:1', payloadCodec(new Keyring(key('old', 1))));
    assert.deepEqual(await reads(older, 'relay:acme:2'), { to: 'jane@example.org' });
  });
});
