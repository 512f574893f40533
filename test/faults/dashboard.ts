/**
 * `node dist/test/faults/dashboard.js <URL of a Prometheus> <minutes> <file.svg>`: draws the curves of
 * deploy/grafana-dashboard.json from that Prometheus. Fails if a panel's query returns an error.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { type Curve, panels } from './picture.js';

const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      type: z.string(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string().optional() })).default([]),
    }),
  ),
});
const answerSchema = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string().transform(Number)])),
      }),
    ),
  }),
});

const [url = '', minutes = '30', file = 'dashboard.svg'] = process.argv.slice(2);
const end = Math.floor(Date.now() / 1000);
const start = end - Number(minutes) * 60;
const step = Math.max(5, Math.round((end - start) / 200));

async function curvesOf(expr: string, legend: string | undefined): Promise<Record<string, Curve>> {
  const query = expr.replaceAll('$__rate_interval', `${Math.max(60, 4 * step)}s`);
  const answer = await fetch(
    `${url}/api/v1/query_range?${new URLSearchParams({ query, start: `${start}`, end: `${end}`, step: `${step}` })}`,
  );
  if (!answer.ok) throw new Error(`${expr}: ${await answer.text()}`);
  const { data } = answerSchema.parse(await answer.json());
  const nameOf = (metric: Record<string, string>) =>
    legend?.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '') ?? Object.values(metric).join(' ');
  return Object.fromEntries(
    data.result.map(({ metric, values }) => [
      nameOf(metric),
      values.filter(([, value]) => Number.isFinite(value)).map(([at, value]): [number, number] => [(at - start) / 60, value]),
    ]),
  );
}

const { panels: described } = dashboardSchema.parse(JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8')));
const drawn: Record<string, Record<string, Curve>> = {};
for (const { title, targets } of described.filter(({ type }) => type === 'timeseries')) {
  const curves = await Promise.all(targets.map(({ expr, legendFormat }) => curvesOf(expr, legendFormat)));
  drawn[title] = Object.assign({}, ...curves);
}
writeFileSync(file, panels(drawn, 'minutes', 3));
