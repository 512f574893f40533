import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unableToSend, warningsOfKind } from '../../../src/chain/kinds.js';

describe('what a platform cannot do', () => {
  const radius = 'WorkMarket accepts only whole miles from 1 to 100 in sendRadius';
  const templates = (path: string, body?: object) => ({ kind: 'http', templates: { send: { path, body } } });
  const noRadius = 'the platform does not accept a radius: remove sendRadius';
  const noGroups = 'the platform does not accept groups: remove groupId and sendToGroups';
  const whole = { ids: '{groupIds}', near: '{radiusMiles:number}' };
  for (const [connected, send, unable] of [
    [templates('/jobs/{assignmentId}', whole), { radiusMiles: 5, groupIds: ['1'] }, undefined],
    [templates('/jobs/{assignmentId}', { ids: '{groupIds}' }), { radiusMiles: 5, groupIds: ['1'] }, noRadius],
    [templates('/jobs/{assignmentId}', { near: '{radiusMiles}' }), { radiusMiles: 5, groupIds: ['1'] }, noGroups],
    [templates('/jobs/{assignmentId}'), { radiusMiles: 5 }, noRadius],
    [templates('/jobs/{assignmentId}'), { groupIds: ['1'] }, noGroups],
    [templates('/jobs/{assignmentId}'), {}, undefined],
    [{ kind: 'http', templates: {} }, { radiusMiles: 5, groupIds: ['1'] }, undefined],
  ] as const)
    it(`${JSON.stringify(connected)} ${JSON.stringify(send)}: ${unable ?? 'nothing'}`, () =>
      assert.equal(unableToSend(connected, { ...send, groupIds: 'groupIds' in send ? [...send.groupIds] : undefined }), unable));

  for (const [kind, send, unable] of [
    ['workmarket', { radiusMiles: 1, groupIds: ['Gold'] }, undefined],
    ['workmarket', { radiusMiles: 100 }, undefined],
    ['workmarket', {}, undefined],
    ['workmarket', { radiusMiles: 0 }, radius],
    ['workmarket', { radiusMiles: 101 }, radius],
    ['workmarket', { radiusMiles: 2.5 }, radius],
    ['http', { radiusMiles: 2.5, groupIds: ['Gold'] }, undefined],
    [undefined, { radiusMiles: 2.5 }, undefined],
  ] as const)
    it(`${kind} ${JSON.stringify(send)}: ${unable ?? 'nothing'}`, () =>
      assert.equal(
        unableToSend(kind && { kind }, { ...send, groupIds: 'groupIds' in send ? [...send.groupIds] : undefined }),
        unable,
      ));

  it('is a warning at each send of a request', () => {
    const send = { action: 'platform_sendAssignment', relayId: '1', radiusMiles: 150 } as const;
    const udf = { action: 'ticket_updateUDF', relayId: '1', index: 1, ticketId: '1', field: 'f', value: 'v' } as const;
    const warnings = warningsOfKind({ kind: 'workmarket' }, [{ ...send, index: 0 }, udf, { ...send, index: 2, radiusMiles: 50 }]);
    assert.deepEqual(warnings, [{ pointer: '/0', detail: `cannot be done, because ${radius}` }]);
  });
});
