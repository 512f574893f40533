import assert from 'node:assert/strict';
import { it } from 'node:test';
import { actionDefinitions } from '../../../src/chain/actions.js';
import { fixedFields } from '../../../src/chain/fields.js';
import { commonFields } from '../../../src/chain/request.js';
import { fieldsOfAction, fieldWords } from '../../../src/chain/words.js';

for (const { name, fields } of actionDefinitions)
  it(`${name} has words for each field that a person can edit`, () => {
    const editable = Object.keys({ ...commonFields, ...fields }).filter((field) => !fixedFields.includes(field));
    assert.deepEqual([...(fieldsOfAction[name] ?? [])].sort(), editable.sort());
    for (const field of editable) assert.ok(fieldWords[field], field);
  });
