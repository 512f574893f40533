/** Parts of schemas: objects with a name in the OpenAPI document and in generated clients, and common fields. */

import { z } from 'zod';

export const named = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) => z.object(shape).meta({ id });
/** Refuses unknown fields. */
export const namedStrict = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) => z.strictObject(shape).meta({ id });

/** The id of a chain, in a path or a list. */
export const chainIdPattern = /^[\w-]{1,128}$/;
export const chainIdText = z.string().regex(chainIdPattern, 'must be the id of a chain');
export const anyObject = z.record(z.string(), z.unknown());
export const issues = z.array(z.object({ pointer: z.string(), detail: z.string() }));
export const optionalFlag = z.boolean().optional();
export const onlyTrue = z.literal(true).optional();
