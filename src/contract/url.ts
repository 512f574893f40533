import { z } from 'zod';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2048);
