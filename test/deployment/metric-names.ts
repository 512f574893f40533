/** The dashboard and the alert rules of deploy/, and the metrics that they and docs/telemetry.md name. */

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const ruleSchema = z.strictObject({
  alert: z.string().regex(/^Relay[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.url() }),
});
const rulesSchema = z.object({ groups: z.tuple([z.object({ name: z.string(), rules: z.array(ruleSchema) })]) });
export const { rules } = rulesSchema.parse(parse(read('deploy/prometheus-alerts.yml'))).groups[0];

const panelSchema = z.object({
  type: z.enum(['row', 'stat', 'timeseries']),
  title: z.string(),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(z.object({ expr: z.string() })).default([]),
});
export const { panels } = z.object({ panels: z.array(panelSchema) }).parse(JSON.parse(read('deploy/grafana-dashboard.json')));

export const runbook = read('docs/operating.md');
export const page = read('docs/telemetry.md');

/** Every query, with the place of its alert or panel. */
export const queries: [where: string, query: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [`the alert ${alert}`, expr]),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [`the panel "${title}"`, expr])),
];

/** The metrics in a PromQL expression. */
export function metricsIn(query: string): string[] {
  const bare = query
    .replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z_:][\w:]*\b(?!\s*\()/gi)]
    .map(([name]) => name)
    .filter((name) => !/^(or|and|unless)$/.test(name));
}

/** Makes all sample names from the metric names and types in an answer of `/metrics`. */
export function sampleNames(answer: string): Set<string> {
  const names = [...answer.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [name, ...['bucket', 'sum', 'count'].map((suffix) => `${name}_${suffix}`)] : [name],
  );
  return new Set(names);
}
