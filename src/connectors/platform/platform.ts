/** The assignment platform: where assignments live and from where they are sent to workers. */

import type { Call } from '../call.js';

export interface Platform {
  /**
   * The assignment as the platform has it now: an object with at least `status`.
   * @throws ConnectorError; `permanent` when the platform does not know the assignment.
   */
  getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>>;

  /**
   * Sends the assignment to the workers of these groups within the radius. No groups: the platform decides.
   * A success that reached nobody is a success; `recipients` is the number reached, where the platform tells.
   * @throws ConnectorError
   */
  sendAssignment(
    assignmentId: string,
    send: { groupIds: string[]; radiusMiles?: number },
    call: Call,
  ): Promise<{ recipients?: number }>;
}
