import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placesOf, valuesAt, withPlaces } from '../../../src/chain/places.js';
import { draftOf } from '../../../src/console/composer/draft.js';
import {
  assignmentPlace,
  inventedEvent,
  undefinedVariables,
  unknownGroups,
  variableName,
} from '../../../src/console/composer/places.js';

const event = {
  id: 7,
  workorder: { id: 'W-1', manager: { email: 'm@x.example' }, tags: ['a', 'b', 'c', 'd'], note: null },
  'not a name': 1,
};

describe('the places of an event', () => {
  it('can get other values, which keep their types', () => {
    const changes = { id: '8', 'workorder.tags[1]': 'z', 'site.zip': '94016', 'workorder.note': null };
    const { id, workorder, site } = withPlaces(event, changes) as typeof event & { site: unknown };
    assert.deepEqual([id, workorder.tags, workorder.id, site], [8, ['a', 'z', 'c', 'd'], 'W-1', { zip: '94016' }]);
    assert.equal(event.id, 7);
  });

  it('have their values', () =>
    assert.deepEqual(
      placesOf(event).map(({ path, value }) => `${path}=${value}`),
      [
        'id=7',
        'workorder.id=W-1',
        'workorder.manager.email=m@x.example',
        'workorder.tags[0]=a',
        'workorder.tags[1]=b',
        'workorder.tags[2]=c',
        'workorder.note=null',
      ],
    ));

  it('have the values of several events, each once', () =>
    assert.deepEqual(valuesAt([{ a: { b: 'x' } }, { a: { b: 7 } }, { a: { b: 'x' } }, {}], 'a.b'), ['x', '7']));

  it('show which place is probably the number of the assignment', () => {
    for (const [body, path] of [
      [event, 'workorder.id'],
      [{ event: { params: { work_order_id: '1' } }, workorder: { id: 1 } }, 'workorder.id'],
      [{ assignment_id: '1001', owner_id: 3 }, 'assignment_id'],
      [{ ticket: { id: 3 }, job: { number: 'J1' } }, 'job.number'],
      [{ id: 3 }, 'id'],
      [{ status: 'x' }, undefined],
    ] as const)
      assert.equal(assignmentPlace(placesOf(body)), path);
  });
});

it('a variable gets a name from its place', () => {
  assert.equal(variableName('workorder.manager.email', []), 'manager_email');
  assert.equal(variableName('workorder.manager.email', ['manager_email']), 'manager_email_2');
  assert.equal(variableName('tags[0]', []), 'tags');
  assert.equal(variableName('event', []), 'event_2');
});

describe('an invented event', () => {
  const draft = draftOf({
    when: 'event.status == "created" && event.job.priority > 2',
    variables: { assignment_id: { path: 'job.id' }, mail: { path: 'people[0].email' } },
    actions: [
      {
        action: 'x',
        platformAssignmentId: '${assignment_id}',
        subject: '${event.job.title} ${other} $${no}',
        if: 'event.kind == "a"',
      },
    ],
  });

  it('has each place that the draft uses, and fits its conditions', () =>
    assert.deepEqual(inventedEvent(draft), {
      job: { id: '1001', title: 'example', priority: 3 },
      people: [{ email: 'someone@example.com' }],
      kind: 'a',
      status: 'created',
    }));

  it('shows which variables the draft does not define', () => assert.deepEqual(undefinedVariables(draft), ['other']));
});

it('groups that the platform does not list are warnings at their field', () => {
  const action = 'platform_sendAssignment';
  const groups = [{ groupId: '501' }, { sendToGroups: 'till TECHNICIANS, Cabling, ${event.group}' }, { groupId: '777' }];
  const { cards } = draftOf({ actions: groups.map((fields) => ({ action, ...fields })) });
  const names = { groups: ['Till technicians'], groupIds: ['501'], fields: [] };
  assert.deepEqual(unknownGroups(cards, names), [
    { pointer: '/actions/1/sendToGroups', detail: 'has a group that the platform does not know: Cabling' },
    { pointer: '/actions/2/sendToGroups', detail: 'has a group that the platform does not know: 777' },
  ]);
  assert.deepEqual(unknownGroups(cards, { groups: [], groupIds: [], fields: [] }), []);
});
