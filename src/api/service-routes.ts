/** Whether the process is alive, whether it can do its work, and what it has counted: see service/health.ts. */

import { z } from 'zod';
import { type HealthOptions, healthRoutes } from '../service/health.js';
import { type Route, type RouteDescription, route } from './route.js';

const readiness = (status: string) => z.object({ status: z.literal(status), temporal: z.string(), database: z.string() });

const descriptions: Pick<RouteDescription, 'path' | 'id' | 'summary' | 'answers'>[] = [
  {
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the process is alive',
    answers: { 200: { description: 'It is.', body: z.object({ status: z.literal('ok') }) } },
  },
  {
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether Temporal and the database can be reached',
    answers: {
      200: { description: 'Both can.', body: readiness('ready') },
      503: { description: 'One cannot.', body: readiness('not ready') },
    },
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'What the process has counted, for Prometheus',
    answers: { 200: { description: 'In the text format of Prometheus.', mediaType: 'text/plain' } },
  },
];

export function serviceRoutes(options: HealthOptions): Route[] {
  const health = healthRoutes(options);
  return descriptions.map((one) => route({ ...one, method: 'get', access: 'public' }, (c) => health.fetch(c.req.raw)));
}
