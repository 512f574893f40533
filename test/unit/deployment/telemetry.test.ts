/**
 * deploy/prometheus-alerts.yml, deploy/grafana-dashboard.json and the table of docs/telemetry.md name only metrics that the
 * relay has.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../../src/service/telemetry.js';
import { metricsIn, page, panels, queries, rules, runbook, sampleNames } from '../../deployment/metric-names.js';

const { registry } = new Metrics();
const answer = await registry.metrics();

/** Anchors in GitHub's form. */
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-'),
);

describe('the alerts', () => {
  for (const { alert, annotations } of rules)
    it(`${alert} links to a heading of docs/operating.md`, () => {
      const [, anchor = ''] = /\/operating\.md#(.+)$/.exec(annotations.runbook_url) ?? [];
      assert(anchors.includes(anchor), `${annotations.runbook_url} leads nowhere`);
    });

  it('have distinct names, and one alert is about failing workflow tasks', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    assert(rules.some(({ expr }) => metricsIn(expr).includes('temporal_workflow_task_execution_failed_total')));
  });
});

describe('the dashboard', () => {
  it('has panels that do not overlap', () => {
    for (const [place, { gridPos: a, title }] of panels.entries())
      for (const { gridPos: b, title: other } of panels.slice(place + 1))
        assert(
          a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y,
          `"${title}" and "${other}" are in one place`,
        );
  });
});

describe('the metrics in queries', () => {
  it('are found in a query', () =>
    assert.deepEqual(metricsIn('sum by (le) (rate(a_total{b="c_d"}[5m])) / e > 0.5 or vector(0)'), ['a_total', 'e']));

  // end-to-end/telemetry checks the SDK's and the process's metrics against a running worker.
  for (const [where, query] of queries)
    for (const name of metricsIn(query).filter((name) => name.startsWith('relay_')))
      it(`${where} asks for ${name}, which exists`, () => assert(sampleNames(answer).has(name)));
});

describe('docs/telemetry.md', () => {
  const rows = page.split('\n').flatMap((line) => {
    const [, name, type, labels = '', meaning] = line.split('|').map((cell) => cell.trim());
    const metric = /^`(relay_\w+)`$/.exec(name ?? '')?.[1];
    return metric && meaning ? [{ metric, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label) }] : [];
  });

  it('has a row for each metric of the relay, with its type and labels', async () => {
    const own = (await registry.getMetricsAsJSON()).filter(({ name }) => name.startsWith('relay_'));
    const labelsOf = (name: string) => (registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames;
    const byName = (a: { metric: string }, b: { metric: string }) => (a.metric < b.metric ? -1 : 1);
    assert.deepEqual(
      rows.toSorted(byName),
      own.map(({ name, type }) => ({ metric: name, type: String(type), labels: labelsOf(name) })).toSorted(byName),
    );
  });
});
