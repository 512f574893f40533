/**
 * deploy/kubernetes cannot be applied here. TypeScript checks it against Kubernetes' own schemas from `kubernetes-types`:
 * unknown fields, missing fields, wrong types. The tests look up each reference to another manifest or to the relay.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import type { ConfigMap, Container, PodSpec, Secret, Service } from 'kubernetes-types/core/v1.d.ts';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { environment, readConfig, StartError } from '../../../src/service/config.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const directory = join(root, 'deploy/kubernetes');
const files = readdirSync(directory).filter((file) => file.endsWith('.yaml'));
const documents = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(directory, file), 'utf8')).map((document) => {
    assert.deepEqual([...document.errors, ...document.warnings], []);
    return { file, object: document.toJS() as Manifest };
  }),
);
const all = documents.map(({ object }) => object);

type Kubernetes =
  | ConfigMap
  | Secret
  | Deployment
  | Service
  | PodDisruptionBudget
  | HorizontalPodAutoscaler
  | Ingress
  | NetworkPolicy;
type Manifest = Kubernetes | z.infer<typeof kustomization> | z.infer<typeof scaledObject>;

/** Types that no package has: the parts of Kustomize and of KEDA's `temporal` scaler that are used here. */
const kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  resources: z.array(z.string()),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
});
const digits = z.string().regex(/^\d+$/);
const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata: z.strictObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ name: z.string() }),
    minReplicaCount: z.int().min(1),
    maxReplicaCount: z.int(),
    pollingInterval: z.int(),
    advanced: z.strictObject({
      horizontalPodAutoscalerConfig: z.strictObject({
        behavior: z.strictObject({ scaleDown: z.strictObject({ stabilizationWindowSeconds: z.int() }) }),
      }),
    }),
    triggers: z.tuple([
      z.strictObject({
        type: z.literal('temporal'),
        metadata: z.strictObject({
          endpoint: z.string().regex(/^[\w.-]+:\d+$/),
          namespace: z.string(),
          taskQueue: z.string(),
          queueTypes: z.literal('workflow,activity'),
          targetQueueSize: digits,
        }),
      }),
    ]),
  }),
});

function ofKind<Kind extends Manifest['kind']>(kind: Kind) {
  const found = all.filter((object): object is Extract<Manifest, { kind?: Kind }> => object.kind === kind);
  assert(found.length > 0, `there is no ${kind}`);
  return found;
}
const deployments = ofKind('Deployment');
const podOf = ({ spec }: Deployment): PodSpec => spec?.template.spec ?? assert.fail('no pod');
const containerOf = (deployment: Deployment): Container => podOf(deployment).containers[0] ?? assert.fail('no container');
const nameOf = ({ metadata }: { metadata?: { name?: string } }) => metadata?.name ?? assert.fail('no name');
const labelsOf = ({ spec }: Deployment) => spec?.template.metadata?.labels ?? {};
const selects = (selector: Record<string, string> = {}, labels: Record<string, string>) =>
  Object.entries(selector).every(([label, value]) => labels[label] === value);

/** TypeScript's errors for these manifests. */
function typeErrors(manifests: readonly { file: string; object: unknown }[]): string {
  const place = mkdtempSync(join(tmpdir(), 'relay-kubernetes-'));
  try {
    const lines = manifests.map(({ file, object }, number) => {
      const { apiVersion, kind } = z.object({ apiVersion: z.string(), kind: z.string() }).parse(object);
      const group = apiVersion.includes('/') ? apiVersion.replace('.k8s.io', '') : `core/${apiVersion}`;
      const type = `Required<Pick<import('kubernetes-types/${group}').${kind}, 'apiVersion' | 'kind' | 'metadata'>>`;
      return `/* ${file} */ export const m${number}: import('kubernetes-types/${group}').${kind} & ${type} = ${JSON.stringify(object)};`;
    });
    writeFileSync(join(place, 'manifests.ts'), lines.join('\n'));
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'preserve',
      types: [],
      paths: { 'kubernetes-types/*': [join(root, 'node_modules/kubernetes-types/*')] },
    };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifests.ts'] }));
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', place], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return z.object({ stdout: z.string() }).parse(error).stdout;
  } finally {
    rmSync(place, { recursive: true });
  }
}

describe('deploy/kubernetes', () => {
  const ofKubernetes = documents.filter(({ object }) => object.kind !== 'Kustomization' && object.kind !== 'ScaledObject');

  it('is valid for Kubernetes, Kustomize and KEDA', () => {
    assert.equal(typeErrors(ofKubernetes), '');
    for (const object of ofKind('Kustomization')) kustomization.parse(object);
    for (const object of ofKind('ScaledObject')) scaledObject.parse(object);
  });

  it('is invalid with an unknown or missing field, or a value of another type', () => {
    const [first] = ofKubernetes.filter(({ object }) => object.kind === 'Deployment');
    const broken = (file: string, change: (key: string, value: unknown) => unknown) => ({
      file,
      object: JSON.parse(JSON.stringify(first?.object), change),
    });
    const errors = typeErrors([
      broken('unknown', (key, value) => (key === 'httpGet' ? { path: '/', port: 1, hosts: '' } : value)),
      broken('missing', (key, value) => (key === 'selector' ? undefined : value)),
      broken('of another type', (key, value) => (key === 'containerPort' ? '8080' : value)),
    ]);
    for (const error of [/'"hosts"' does not exist/, /'selector' is missing/, /'string' is not assignable to type 'number'/])
      assert.match(errors, error);
  });

  it("is applied completely, except for the secrets, the ingress and KEDA's part", () => {
    const [{ resources, images } = assert.fail()] = ofKind('Kustomization');
    const apart = ['kustomization.yaml', 'secret.example.yaml', 'ingress.example.yaml', 'worker-autoscaling.yaml'];
    assert.deepEqual([...resources].sort(), files.filter((file) => !apart.includes(file)).sort());
    for (const deployment of deployments) assert(images.some(({ name }) => name === containerOf(deployment).image));
    for (const { newTag } of images) assert.match(newTag, /^\d/);
  });

  it('has an ingress to the API, which masks tokens in its log as deploy/nginx.conf does', () => {
    const [service = assert.fail()] = ofKind('Service');
    const ports = service.spec?.ports?.map(({ name }) => name) ?? [];
    const backends = ofKind('Ingress').flatMap(({ spec }) =>
      (spec?.rules ?? []).flatMap(({ http }) => http?.paths.map(({ backend }) => backend.service) ?? []),
    );
    assert.equal(backends.length, 5);
    for (const backend of backends) {
      assert.equal(backend?.name, nameOf(service));
      assert(ports.includes(backend?.port?.name ?? ''));
    }
    const written = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8');
    const [map = assert.fail()] = /^map \$request_uri[\s\S]*?^}/m.exec(written) ?? [];
    const [format = assert.fail()] = /(?<=^log_format relay ').*(?=';$)/m.exec(written) ?? [];
    const { data } = ofKind('ConfigMap').find((config) => nameOf(config) === 'ingress-nginx-controller') ?? assert.fail();
    assert.deepEqual([data?.['http-snippet']?.trim(), data?.['log-format-upstream']], [map, format]);
  });

  it('names no namespace: the operator chooses it', () => {
    for (const { metadata } of documents.map(({ object }) => object as Kubernetes)) assert.equal(metadata?.namespace, undefined);
  });

  for (const deployment of deployments) {
    const name = nameOf(deployment);
    const pod = podOf(deployment);
    const container = containerOf(deployment);

    it(`${name} runs without root and capabilities, on a read-only image, with resource limits`, () => {
      const { runAsNonRoot, runAsUser = 0, seccompProfile } = pod.securityContext ?? {};
      assert(runAsNonRoot && runAsUser > 0);
      assert.equal(seccompProfile?.type, 'RuntimeDefault');
      assert.equal(pod.automountServiceAccountToken, false);
      const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext ?? {};
      assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities?.drop], [false, true, ['ALL']]);
      for (const bounds of [container.resources?.requests, container.resources?.limits]) assert(bounds?.cpu && bounds.memory);
      const mounts = container.volumeMounts?.map(({ mountPath, name }) => ({ mountPath, name }));
      assert.deepEqual(mounts, [{ mountPath: '/tmp', name: pod.volumes?.[0]?.name }]);
      assert(pod.volumes?.[0]?.emptyDir?.sizeLimit);
    });

    it(`${name} sets only variables that the relay or its libraries read, and all required ones`, () => {
      const variables = Object.fromEntries((container.env ?? []).map(({ name, value = '' }) => [name, value]));
      for (const { configMapRef, secretRef } of container.envFrom ?? []) {
        const from = configMapRef ? ofKind('ConfigMap') : ofKind('Secret');
        const wanted = configMapRef?.name ?? secretRef?.name;
        const source = from.find((object) => nameOf(object) === wanted) ?? assert.fail(`there is no ${wanted}`);
        Object.assign(variables, 'stringData' in source ? source.stringData : source.data);
      }
      for (const variable of Object.keys(variables))
        assert(variable in environment.shape || /^(TEMPORAL|OTEL|NODE)_/.test(variable), `nothing reads ${variable}`);
      const needed = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'RELAY_SECRET', 'RELAY_ENCRYPTION_KEYS', 'HOST'];
      for (const variable of needed) assert(variables[variable], `${name} lacks ${variable}`);
      assert(!('RELAY_ALLOW_PLAIN_STORAGE' in variables), `${name} would start without secrets`);
      assert.equal('RELAY_ADMIN_TOKEN' in variables, name === 'relay-api');
      assert('SMTP_URL' in variables, 'the worker sends notices, the API links to sign in');
      // The kubelet calls from outside the pod, so the process must listen on all addresses.
      assert.equal(variables.HOST, '0.0.0.0');
      const [port] = container.ports ?? [];
      assert.equal(String(port?.containerPort), variables[name === 'relay-api' ? 'PORT' : 'RELAY_METRICS_PORT']);
    });

    it(`${name} has health probes with a served path and port`, () => {
      const health = readFileSync(join(root, 'src/service/telemetry.ts'), 'utf8');
      const probes = { liveness: container.livenessProbe, readiness: container.readinessProbe };
      for (const [probe, asked] of Object.entries(probes)) {
        assert(asked?.httpGet, `no ${probe}Probe`);
        assert.equal(asked.httpGet.path, probe === 'readiness' ? '/readyz' : '/healthz');
        assert(health.includes(`.get('${asked.httpGet.path}'`));
        assert.equal(asked.httpGet.port, container.ports?.[0]?.name);
      }
    });

    it(`${name} has enough time to stop`, () => {
      const read = (file: string, pattern: RegExp) =>
        Number((pattern.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? assert.fail(file)).replace('_', ''));
      const own =
        name === 'relay-api'
          ? read('src/service/server.ts', /graceMs = ([\d_]+)/) / 1000
          : read('src/worker/worker.ts', /shutdownGraceTime: '(\d+) seconds'/);
      const before = Number(container.env?.find(({ name }) => name === 'RELAY_DRAIN_SECONDS')?.value ?? 0);
      assert((pod.terminationGracePeriodSeconds ?? 0) >= before + own + 10);
    });

    it(`${name} runs the build's output`, () => {
      const file = container.command?.at(-1) ?? '';
      assert(existsSync(new URL(`../../../${file.replace(/^dist\//, '')}`, import.meta.url)), `${file} is not built`);
    });

    it(`${name} keeps one process during a node drain`, () => {
      const budgets = ofKind('PodDisruptionBudget').filter(({ spec }) =>
        selects(spec?.selector?.matchLabels, labelsOf(deployment)),
      );
      assert.deepEqual(
        budgets.map(({ spec }) => spec?.maxUnavailable),
        [1],
      );
      assert.deepEqual(deployment.spec?.selector.matchLabels, labelsOf(deployment));
    });
  }

  it('has services, autoscalers and network policies for existing workloads', () => {
    const named = (name: string) =>
      deployments.find((deployment) => nameOf(deployment) === name) ?? assert.fail(`there is no ${name}`);
    for (const { spec } of ofKind('Service')) {
      const behind = deployments.filter((deployment) => selects(spec?.selector, labelsOf(deployment)));
      assert.equal(behind.length, 1);
      for (const { targetPort } of spec?.ports ?? [])
        assert(behind.every((deployment) => containerOf(deployment).ports?.some(({ name }) => name === targetPort)));
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler')) {
      // A fixed number would make each `apply` undo the autoscaler's decision.
      assert.equal(named(spec?.scaleTargetRef.name ?? '').spec?.replicas, undefined);
    }
    for (const { spec } of ofKind('NetworkPolicy')) {
      const behind = deployments.filter((deployment) => selects(spec?.podSelector?.matchLabels, labelsOf(deployment)));
      assert(behind.length > 0);
      for (const { port } of spec?.ingress?.flatMap(({ ports = [] }) => ports) ?? [])
        assert(behind.every((deployment) => containerOf(deployment).ports?.some(({ containerPort }) => containerPort === port)));
    }
    for (const { spec } of ofKind('ScaledObject')) {
      named(spec.scaleTargetRef.name);
      const [{ data = {} } = assert.fail()] = ofKind('ConfigMap');
      const [{ metadata }] = spec.triggers;
      assert.equal(metadata.endpoint, data.TEMPORAL_ADDRESS);
      assert.equal(metadata.namespace, data.TEMPORAL_NAMESPACE);
      assert.equal(metadata.taskQueue, environment.parse({}).RELAY_TASK_QUEUE);
    }
  });

  it("contains no secret: with the example's placeholders the relay does not start", () => {
    for (const { stringData, data } of ofKind('Secret')) {
      assert.equal(data, undefined);
      for (const [variable, text] of Object.entries(stringData ?? {})) {
        assert.match(text, /^<.*>$/);
        assert.throws(() => readConfig({ [variable]: text }), StartError, `${variable} is taken`);
      }
    }
    const [{ data = {} } = assert.fail()] = ofKind('ConfigMap');
    readConfig(data);
    for (const variable of Object.keys(data)) assert.doesNotMatch(variable, /SECRET|TOKEN|PASSWORD|KEY|DATABASE/);
  });
});
