import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditSentence, auditWords } from '../../../src/contract/audit-words.js';
import { callerWords, signedInWords } from '../../../src/contract/role-words.js';

describe('the sentence of an audit entry', () => {
  const facts = {
    relayId: '4711',
    name: 'Ada',
    role: 'steer',
    version: 3,
    fromVersion: 2,
    index: 1,
    count: 12,
    verb: 'retry',
    issuer: 'https://login.example',
  };

  for (const action of Object.keys(auditWords))
    it(`of the kind ${action} is in plain words`, () => {
      const sentence = auditSentence(action, { ...facts, what: ['all'] });
      assert.match(sentence, /^[a-z]+ed |^(made|began|sent|ran) /, 'it begins with a verb in the past');
      assert.doesNotMatch(sentence, /[{}…]|undefined|steer/);
    });

  for (const [action, details, sentence] of [
    ['rule.publish', facts, 'published version 3 of rule Night shift (4711)'],
    [
      'rule.publish',
      { ...facts, as: 'shadow' },
      'stored version 3 of rule Night shift (4711), and began the trial of this version',
    ],
    ['rule.go-back', facts, 'published version 2 of rule Night shift (4711) again, as version 3'],
    ['rule.shadow', facts, 'began the trial of version 3 of rule Night shift (4711)'],
    ['rule.shadow', { ...facts, version: null }, 'ended the trial of a version of rule Night shift (4711)'],
    ['person.add', facts, 'added Ada as a dispatcher'],
    ['company.pause', { what: 'platform' }, 'paused the platform'],
    ['company.resume', { what: ['platform', 'mail'] }, 'ended the pause of the platform, mail'],
    ['chain.cancel', { chainId: '6f1c0a9e-11' }, 'cancelled chain 6f1c0a9e'],
    ['chain.cancel', {}, 'cancelled a chain'],
    ['rejected.drop', { rejectedId: '6f1c0a9e-11' }, 'dropped a refused request'],
    ['rejected.resend', { rejectedId: '6', relayId: '7' }, 'sent a refused request of rule Night shift (7) again'],
    ['chain.cancel', { chainId: 'c', index: 0 }, 'cancelled step 1 of chain c'],
    ['chain.retry', { chainId: 'c', index: 1, assignmentId: '1001' }, 'retried step 2 of assignment 1001'],
    ['chain.bulk', { count: 3, verb: 'mend' }, 'edited and retried 3 chains'],
    ['chain.bulk', { count: 1, verb: 'skip' }, 'skipped steps of 1 chain'],
    ['token.rotate', { ...facts, purpose: 'event' }, 'created a new address for events of rule Night shift (4711)'],
    ['an.unknown-action', {}, 'an.unknown-action'],
  ] as const)
    it(`of ${action} with ${JSON.stringify(details)}`, () =>
      assert.equal(
        auditSentence(action, details, (relayId) => `Night shift (${relayId})`),
        sentence,
      ));
});

it('says who is signed in, and what this person may do', () => {
  assert.equal(signedInWords({ kind: 'admin' }), 'Signed in as the administrator');
  assert.equal(signedInWords({ kind: 'admin', name: 'dana' }), 'Signed in with the admin token “dana”');
  assert.equal(signedInWords({ kind: 'person', name: 'Ada', role: 'steer' }), 'Signed in as Ada (role: dispatcher)');
  assert.equal(
    signedInWords({ kind: 'key', name: 'dashboard', role: 'read' }),
    'Signed in with the key “dashboard” (role: viewer)',
  );
  assert.equal(callerWords({ kind: 'link', contact: 'a@b.example' }), 'the link in a notice to a@b.example');
});
