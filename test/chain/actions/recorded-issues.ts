/** What an action's definition makes of its fields, for tests: the task, and everything it reported as `field: detail`. */

import type { ActionDefinition } from '../../../src/chain/actions/definition.js';

export interface Reading<Task> {
  task: Task | undefined;
  problems: string[];
  mistakes: string[];
  warnings: string[];
}

export function readAs<Task>(definition: ActionDefinition<Task>, fields: Record<string, unknown>): Reading<Task> {
  const [problems, mistakes, warnings]: [string[], string[], string[]] = [[], [], []];
  const noteIn = (list: string[]) => (field: string, detail: string) => void list.push(`${field}: ${detail}`);
  const task = definition.parse(fields, { problem: noteIn(problems), mistake: noteIn(mistakes), warning: noteIn(warnings) });
  return { task, problems, mistakes, warnings };
}
