/** Objects with a name in the OpenAPI document. Generated clients use the name, too. */

import { z } from 'zod';

export const named = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) => z.object(shape).meta({ id });

/** Refuses unknown fields. */
export const namedStrict = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) => z.strictObject(shape).meta({ id });
