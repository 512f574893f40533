import { z } from 'zod';

/** A name that people give to something. */
export const label = z.string().trim().min(1, 'must not be blank').max(200);
