/** What people can do with an action. */

export const steeringVerbs = ['retry', 'skip', 'runNow', 'cancel', 'reschedule'] as const;
export type SteeringVerb = (typeof steeringVerbs)[number];
