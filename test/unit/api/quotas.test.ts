import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Quotas } from '../../../src/api/quotas.js';
import type { Chain, ChainAction } from '../../../src/chain/chain.js';
import type { CompanyLimits } from '../../../src/contract/company.js';
import { Rejection } from '../../../src/contract/problem.js';
import { createLog, Metrics } from '../../../src/service/telemetry.js';
import type { Store } from '../../../src/store/store.js';
import { Usage } from '../../../src/store/usage.js';

const udf: ChainAction = { index: 0, relayId: '1', action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' };
const mailTo = (...recipients: string[]): ChainAction => ({
  ...{ index: 0, relayId: '1', action: 'sendEmails', subject: '', body: '', bodyHtml: '' },
  recipients,
});
const started = async () => ({ chain: {} as Chain, replayed: false });

/** A company with limits, and with this number of open chains in Temporal. */
function quotas(limits: CompanyLimits, { open = 0, recipientDomains }: { open?: number; recipientDomains?: string[] } = {}) {
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', limits, mail: { recipientDomains } };
  const settings = { of: async () => ({ company }) } as unknown as Store['settings'];
  const count = mock.fn(async () => ({ count: open, groups: [] }));
  const usage = new Usage({ query: () => Promise.reject(new Error('not asked on the way of a request')) });
  const client = { workflow: { count }, withDeadline: async <T>(_deadline: number | Date, work: () => Promise<T>) => work() };
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  return { quotas: new Quotas({ store: { settings, usage }, client, metrics: new Metrics(), log }), count, lines };
}

const refused = (slug: string, reason: string) => (error: unknown) => {
  assert(error instanceof Rejection);
  assert.deepEqual([error.slug, error.reason], [slug, reason]);
  assert.match(error.more.headers?.['Retry-After'] ?? '', /^[1-9]\d*$/);
  return true;
};

describe('a company', () => {
  const bounds: [what: string, limits: CompanyLimits, actions: ChainAction[], slug: string, reason: string][] = [
    ['actions a day', { actionsPerDay: 5 }, [udf, udf], 'quota-exceeded', 'actions-per-day'],
    ['e-mail recipients a day', { recipientsPerDay: 5 }, [mailTo('a', 'b')], 'quota-exceeded', 'recipients-per-day'],
    ['chains open', { openChains: 2 }, [udf], 'too-many-open-chains', 'open-chains'],
  ];
  for (const [what, limits, actions, slug, reason] of bounds)
    it(`is accepted up to its quota, and refused beyond: ${what}`, async () => {
      const { quotas: made } = quotas(limits);
      for (let n = 0; n < 2; n += 1) await made.within('acme', actions, started);
      await assert.rejects(made.within('acme', actions, started), refused(slug, reason));
      await made.within('other', actions, started);
    });

  it('uses up no quota for a chain that did not start, or that had started before', async () => {
    const { quotas: made } = quotas({ actionsPerDay: 1, openChains: 1 });
    await assert.rejects(made.within('acme', [udf], () => Promise.reject(new Error('Temporal is away'))));
    await made.within('acme', [udf], async () => ({ chain: {} as Chain, replayed: true }));
    await made.within('acme', [udf], started);
    await assert.rejects(made.within('acme', [udf], started), Rejection);
  });

  it('is refused for too many open chains, also earlier ones; Temporal rarely counts them, and no request waits for this', async () => {
    const { quotas: made, count } = quotas({ openChains: 1000 }, { open: 995 });
    await made.within('acme', [udf], started);
    await new Promise(setImmediate);
    for (let n = 0; n < 4; n += 1) await made.within('acme', [udf], started);
    await assert.rejects(made.within('acme', [udf], started), refused('too-many-open-chains', 'open-chains'));
    assert.equal(count.mock.callCount(), 1);
  });

  it('is not limited while its open chains cannot be counted, which is logged once', async () => {
    const { quotas: made, count, lines } = quotas({ openChains: 1000 });
    count.mock.mockImplementation(() => Promise.reject(new Error('no visibility store')));
    for (const companyId of ['acme', 'other']) {
      await made.within(companyId, [udf], started);
      await new Promise(setImmediate);
    }
    assert.equal(count.mock.callCount(), 2);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"level":"warn".*"companyId":"acme".*open chains cannot be counted/);
  });

  it('uses up quota for the recipients that an edit adds', async () => {
    const { quotas: made } = quotas({ recipientsPerDay: 3 }, { recipientDomains: ['acme.example'] });
    assert.deepEqual(await made.admit('acme', ['a@acme.example', 'b@acme.example']), []);
    await assert.rejects(
      made.admit('acme', ['c@acme.example', 'd@acme.example']),
      refused('quota-exceeded', 'recipients-per-day'),
    );
    const [outside] = await made.admit('acme', ['c@acme.example', 'x@other.example']);
    assert.deepEqual(outside?.pointer, '/emails');
    assert.match(outside?.detail ?? '', /^x@other\.example: .*recipientDomains/);
    assert.deepEqual(await made.admit('acme', []), []);
    await made.within('acme', [mailTo('e@acme.example')], started);
    await assert.rejects(made.assertRecipientsLeft('acme', 1), refused('quota-exceeded', 'recipients-per-day'));
  });

  it('with recipientDomains sends e-mail only to these domains and their subdomains', async () => {
    const { quotas: made } = quotas({}, { recipientDomains: ['acme.example', 'PARTNER.example'] });
    await made.checkActions('acme', [mailTo('a@acme.example', 'B <b@eu.acme.example>', 'c@partner.EXAMPLE'), udf]);
    await assert.rejects(made.checkActions('acme', [mailTo('a@acme.example', 'x@notacme.example')]), (error: Rejection) => {
      assert.equal(error.slug, 'invalid-chain');
      assert.equal(error.mistakes[0]?.pointer, '/0/emails');
      assert.match(error.mistakes[0]?.detail ?? '', /^x@notacme\.example: .*recipientDomains/);
      return true;
    });
    assert.deepEqual(await quotas({}).quotas.checkActions('acme', [mailTo('x@anywhere.example')]), []);
  });
});
