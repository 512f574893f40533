/** The calls of the relay to an assignment platform. */

import type { Bounds, Call } from './call.js';

export type Order = { groupIds: string[]; radiusMiles?: number | undefined };

/** Throws only ConnectorErrors. */
export interface Platform extends Bounds {
  /** @throws ConnectorError `permanent` if there is no such assignment */
  getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>>;
  /** Only checks. @param wanted - what must exist: an assignment, the groups of the rules. @returns the result in words */
  check(call: Call, wanted?: { assignmentId?: string | undefined; groups?: readonly string[] }): Promise<string>;
  /** Returns the names of the groups, for lists to choose from. Absent if the platform lists none. */
  names?(call: Call): Promise<string[]>;
  /** Returns the numbers of the same groups, which people can use in place of the names. */
  ids?(call: Call): Promise<string[]>;
  /** Sends the assignment to workers of the groups within the radius. Without groups, the platform selects the workers. */
  sendAssignment(assignmentId: string, order: Order, call: Call): Promise<{ recipients?: number; note?: string }>;
}
