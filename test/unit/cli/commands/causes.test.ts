/** Causes, against a scripted API. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Asked, type ScriptedAnswer, scripted } from '../../../cli/local-api.js';
import { relay } from '../../../cli/scripted-terminal.js';

const at = '2026-07-01T12:00:00.000Z';
const cause = {
  causeId: '4f0f5dc373404496',
  reason: 'PlatformError',
  message: 'POST /assignments/1/send answered 404',
  since: at,
  chains: 214,
  actions: 215,
  assignments: 210,
  relayIds: ['4711'],
  chainId: 'c1',
  lastAt: at,
};

describe('relay causes', () => {
  let answers: (asked: Asked) => ScriptedAnswer = () => ({});
  let server: Awaited<ReturnType<typeof scripted>>;
  before(async () => {
    server = await scripted((asked) => answers(asked));
  });
  after(() => server.close());

  function run(words: readonly string[], body: unknown) {
    server.asked.length = 0;
    answers = () => ({ body });
    return relay(words, { env: { RELAY_URL: server.url, RELAY_KEY: 'k' } });
  }
  const asked = () => server.asked.map(({ method, path, body }) => [method, path, body === '' ? undefined : JSON.parse(body)]);

  it('lists causes with their owners', async () => {
    const { out } = await run(['causes', 'list', 'acme'], { items: [{ ...cause, takenBy: 'key dana' }] });
    assert.match(
      out,
      /^CAUSE +CHAINS +ASSIGNMENTS +REASON [^\n]*\n4f0f5dc373404496 +214 +210 +PlatformError .* key dana +210 assignments do not exist\n$/,
    );
    assert.match((await run(['causes', 'acme'], { items: [] })).err, /No chain of company acme needs attention/);
  });

  it('lists, below the causes, the refused requests that wait for a decision', async () => {
    const refused = {
      relayId: '4711',
      reason: 'malformed-body',
      mistake: 'quotation-mark',
      requests: 200,
      repeats: 3,
      notKept: 7,
    };
    const body = {
      items: [],
      refused: [{ ...refused, since: at, lastAt: at, rejectedId: 'Xk2v', message: 'Line 1, column 205' }],
    };
    const { out, err } = await run(['causes', 'list', 'acme'], body);
    assert.match(err, /No chain of company acme needs attention/);
    assert.match(out, /REFUSED +REASON +RULE [^\n]*\n200 +malformed-body +4711 .* 3 +7 +Xk2v +Line 1, column 205\n/);
    assert.match(out, /npx relay rejected show acme Xk2v\n$/);
    const json = await run(['causes', 'list', 'acme', '--json'], body);
    assert.deepEqual(JSON.parse(json.out), body);
  });

  it('shows one cause with its actions, and the command that retries all these actions', async () => {
    const items = [{ chainId: 'c1', index: 3, relayId: '4711', assignmentId: '1001', since: at, heldUntil: at }];
    const { out } = await run(['causes', 'show', 'acme', cause.causeId], { ...cause, items });
    assert.match(out, /c1 +3 +4711 +1001/);
    assert.match(out, /npx relay bulk retry acme --cause 4f0f5dc373404496\n$/);
  });

  it('takes, releases and silences one cause', async () => {
    const path = `/co/acme/causes/${cause.causeId}`;
    for (const [words, wanted, answer, said] of [
      [['take'], [`${path}/take`, {}], { takenBy: 'key dana' }, /PlatformError in 214 chains: taken by key dana\./],
      [['release'], [`${path}/release`, {}], {}, /nobody has taken the cause\.\n$/],
      [
        ['silence', '1h30m'],
        [`${path}/silence`, { seconds: 5400 }],
        { silencedUntil: '2126-07-01T12:00:00.000Z' },
        /until 2126-/,
      ],
      [['silence', '0'], [`${path}/silence`, { seconds: 0 }], { silencedUntil: at }, /nobody has taken the cause\.\n$/],
    ] as const) {
      const [verb, ...more] = words;
      const { out } = await run(['causes', verb, 'acme', cause.causeId, ...more], { ...cause, ...answer });
      assert.deepEqual(asked(), [['POST', ...wanted]]);
      assert.match(out, said);
    }
    assert.equal((await run(['causes', 'silence', 'acme', cause.causeId, 'soon'], {})).exitCode, 2);
    assert.deepEqual(asked(), []);
  });

  it('limits a bulk order to the chains of one cause', async () => {
    await run(['bulk', 'skip', 'acme', '--cause', cause.causeId], { verb: 'skip', count: 0, first: [] });
    assert.deepEqual(asked(), [['POST', '/co/acme/chains/bulk', { verb: 'skip', filter: { causeId: cause.causeId } }]]);
  });
});
