/** Chains run for days and must survive a new version: the histories that each release recorded in its folder replay. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { dataConverterOf } from '../../src/service/payloads.js';
import { bundlePath } from '../../src/worker/bundle.js';
import { standardKeyring } from './stack.js';

const directory = new URL('../../../test/histories/', import.meta.url);
const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.binpb'));

it('there are recorded histories', () => assert(names.length >= 8));

for (const name of names) {
  it(`${name} replays`, async () => {
    const history = proto.temporal.api.history.v1.History.decode(readFileSync(new URL(name, directory)));
    const dataConverter = dataConverterOf(standardKeyring);
    await Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath }, dataConverter }, history, name);
  });
}
