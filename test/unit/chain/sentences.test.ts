import assert from 'node:assert/strict';
import { it } from 'node:test';
import { filledWords, sentenceOf, spoken, whenWords } from '../../../src/chain/sentences.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '${assignment_id}' };
const mail = {
  action: 'sendEmails',
  emails: ['${event.manager.email}', 'b@c.example'],
  subject: 'Nobody accepted ${assignment.title}',
};

it('an action is a sentence', () => {
  for (const [fields, sentence] of [
    [
      { ...send, sendToGroups: 'Metro technicians', sendRadius: '25', delayInSeconds: '1800', actionCondition: 'status==draft' },
      'After 30 minutes, if the assignment is still “draft”, send to Metro technicians within 25 miles',
    ],
    [{ ...send, groupId: '501', sendToGroups: '502, 501', sendRadius: '1' }, 'Send to groups 501 and 502 within 1 mile'],
    [{ ...send, sendRadius: '5' }, 'Send the assignment within 5 miles'],
    [send, 'Send the assignment'],
    [{ ...send, groupId: '5', delayInSeconds: 'soon' }, 'After “soon”, send to group 5'],
    [mail, 'E-mail [manager email] and b@c.example: “Nobody accepted [title]”'],
    [{ action: 'sendEmails', delayInSeconds: '${event.delay}' }, 'After [delay], e-mail somebody'],
    [
      { ...mail, if: 'event.n > 3 && assignment.status != "sent"' },
      "If the event's n is more than 3 and the assignment is not “sent”, e-mail [manager email] and b@c.example: “Nobody accepted [title]”",
    ],
    [{ ...send, if: 'size(event.tags) > 2' }, 'If size(event.tags) > 2, send the assignment'],
    [
      { action: 'ticket_updateUDF', externalSystemTicketId: '${ticket_id}', cfName: 'Status', cfValue: 'Done' },
      'Set “Status” of ticket [ticket id] to “Done”',
    ],
    [{ action: 'newAction' }, 'NewAction'],
    [{}, 'Do something'],
  ] as const)
    assert.equal(sentenceOf(fields), sentence);
});

it('a rule says for which events it runs', () => {
  assert.equal(whenWords(undefined), 'For each event');
  assert.equal(
    whenWords('event.status == "created" && event.n > 3'),
    'For each event, if status is “created” and n is more than 3',
  );
  assert.equal(whenWords('size(event.a) > 2'), 'For each event, if size(event.a) > 2');
});

it('a reference is shown by its last words', () => {
  assert.equal(spoken('${a_b} ${event.c.d[0]} $x'), '[a b] [c d 0] $x');
});

it('each value in a text has its source in words', () => {
  assert.equal(filledWords('no value'), '');
  assert.equal(
    filledWords('${owner_email}, ${owner_email}'),
    'In place of ${owner_email}, the relay writes the value from the event.',
  );
  assert.equal(
    filledWords('${event.manager.name} asks ${assignment.title}'),
    'In place of ${event.manager.name}, the relay writes the value from the event. In place of ${assignment.title}, the relay writes the value from the assignment.',
  );
});
