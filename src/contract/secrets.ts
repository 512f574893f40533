/** Which fields are secret, marked where they are declared. */

import { z } from 'zod';

export const mask = '***';

/** How an answer shows a secret. */
type Shown = (value: string) => string;
const secrets = z.registry<{ shown: Shown }>();

/** Marks a field as a secret. */
export function secret<Schema extends z.ZodType<string>>(schema: Schema, shown: Shown = () => mask): Schema {
  secrets.add(schema, { shown });
  return schema;
}
