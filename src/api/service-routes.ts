/** Whether the process is alive, whether it can do its work, and what it has counted: see service/health.ts. */

import { z } from 'zod';
import { type HealthOptions, healthRoutes } from '../service/health.js';
import { type Route, route } from './route.js';

export function serviceRoutes(options: HealthOptions): Route[] {
  const health = healthRoutes(options);
  const readiness = (status: string) => z.object({ status: z.literal(status), temporal: z.string(), database: z.string() });
  return [
    route(
      {
        method: 'get',
        path: '/healthz',
        id: 'getHealth',
        access: 'public',
        summary: 'Whether the process is alive',
        answers: { 200: { description: 'It is.', body: z.object({ status: z.literal('ok') }) } },
      },
      (c) => health.fetch(c.req.raw),
    ),
    route(
      {
        method: 'get',
        path: '/readyz',
        id: 'getReadiness',
        access: 'public',
        summary: 'Whether Temporal and the database can be reached',
        answers: {
          200: { description: 'Both can.', body: readiness('ready') },
          503: { description: 'One cannot.', body: readiness('not ready') },
        },
      },
      (c) => health.fetch(c.req.raw),
    ),
    route(
      {
        method: 'get',
        path: '/metrics',
        id: 'getMetrics',
        access: 'public',
        summary: 'What the process has counted, for Prometheus',
        answers: { 200: { description: 'In the text format of Prometheus.', mediaType: 'text/plain' } },
      },
      (c) => health.fetch(c.req.raw),
    ),
  ];
}
