/** The result of an action's definition for the given fields: the effect, and all issues as `field: detail`. */

import type { ActionDefinition } from '../../../src/chain/define-action.js';

export interface Reading<Effect> {
  effect: Effect | undefined;
  problems: string[];
  mistakes: string[];
  warnings: string[];
}

export function readAs<Effect>(definition: ActionDefinition<Effect>, fields: Record<string, unknown>): Reading<Effect> {
  const [problems, mistakes, warnings]: [string[], string[], string[]] = [[], [], []];
  const noteIn = (list: string[]) => (field: string, detail?: string) => {
    if (detail !== undefined) list.push(`${field}: ${detail}`);
  };
  const effect = definition.parse(fields, { problem: noteIn(problems), mistake: noteIn(mistakes), warning: noteIn(warnings) });
  // The conversion to JSON and back drops undefined facts.
  return { effect: effect && JSON.parse(JSON.stringify(effect)), problems, mistakes, warnings };
}
