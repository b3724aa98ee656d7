import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findKubernetesTools, type KubernetesTools } from '@gateway/testing/kubernetes-tools';
import { runCommand, runOrThrow } from '@gateway/tools/process/run-command';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import { valuesOf } from '../kubernetes/manifests.ts';
import { schemaErrors, type Resource } from '../kubernetes/schemas.ts';
import { makeChart } from './chart.ts';
import { writeChart } from './write-chart.ts';

const deploy = fileURLToPath(new URL('..', import.meta.url));
const VERSION = '7.8.9';
const COMMAND_MS = 60_000;

let folder: string;
let chart: string;
let tools: KubernetesTools;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'chart-'));
  tools = await findKubernetesTools();
  chart = await writeChart(folder, VERSION);
}, 240_000);
afterAll(() => rm(folder, { recursive: true }));

const env = () => ({ PATH: process.env['PATH'], HOME: folder });

/** What Helm makes of the chart with these values. */
async function rendered(values: object = {}): Promise<Resource[]> {
  const { code, output } = await template(values);
  if (code !== 0) throw new Error(output);
  return resourcesIn(output);
}

async function template(values: object) {
  const file = path.join(folder, 'values.yaml');
  await writeFile(file, stringify(values));
  const args = ['template', 'gateway', chart, '--namespace=gateway', '--kube-version=1.33.0'];
  // Into a file: the dashboards alone are longer than the output that is kept of a command.
  const output = path.join(folder, 'rendered.yaml');
  const command = `exec "$0" "$@" > ${output}`;
  const all = ['-c', command, tools.helm, ...args, `--values=${file}`];
  const { code, output: errors } = await runCommand('sh', all, {
    env: env(),
    timeoutMs: COMMAND_MS,
  });
  return { code, output: code === 0 ? await readFile(output, 'utf8') : errors };
}

function resourcesIn(text: string): Resource[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Resource | null)
    .filter((document) => document !== null);
}

const named = (resources: readonly Resource[], kind: string) =>
  resources.filter((one) => one.kind === kind).map((one) => one.metadata.name);

function one(resources: readonly Resource[], kind: string, name: string): Resource {
  const found = resources.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** A resource without what says which tool made it, its variables in the order of their names. */
function comparable(resource: Resource): object {
  const copy = JSON.parse(
    JSON.stringify(resource).replaceAll(/nats-config-[0-9a-z]{10}(?=")/g, 'nats-config'),
  ) as { metadata: { namespace?: string; labels: Record<string, string> } };
  delete copy.metadata.namespace;
  delete copy.metadata.labels['app.kubernetes.io/managed-by'];
  delete copy.metadata.labels['helm.sh/chart'];
  for (const annotations of valuesOf(copy, 'annotations') as Record<string, string>[]) {
    delete annotations['gateway.internal/nats-config'];
  }
  for (const metadata of valuesOf(copy, 'metadata') as { annotations?: object }[]) {
    if (Object.keys(metadata.annotations ?? { some: 1 }).length === 0) delete metadata.annotations;
  }
  for (const variables of valuesOf(copy, 'env') as { name: string }[][]) {
    variables.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  return copy;
}

function byName(resources: readonly Resource[]): Record<string, object> {
  const pairs = resources.map((each) => [
    `${each.kind} ${each.metadata.name}`.replace(/(nats-config)-.*/, '$1'),
    comparable(each),
  ]);
  return Object.fromEntries(pairs) as Record<string, object>;
}

describe('the Helm chart', () => {
  it('installs with its defaults what kustomize makes of the base', async () => {
    const args = ['kustomize', path.join(deploy, 'kubernetes/base')];
    const output = await runOrThrow(tools.kubectl, args, { env: env(), timeoutMs: COMMAND_MS });
    const version = /gateway\/data-plane:([\d.]+)/.exec(output)?.[1] ?? '';
    const base = resourcesIn(output.replaceAll(`:${version}\n`, `:${VERSION}\n`));
    const { 'Namespace gateway': _namespace, ...expected } = byName(base);
    expect(byName(await rendered())).toEqual(expected);
  });

  it('passes the checks of Helm', async () => {
    const args = ['lint', '--strict', chart];
    const { code, output } = await runCommand(tools.helm, args, {
      env: env(),
      timeoutMs: COMMAND_MS,
    });
    expect(output).toContain('0 chart(s) failed');
    expect(output).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(code).toBe(0);
  });

  it('renders valid resources with every part of it', async () => {
    const everything = await rendered(EVERYTHING);
    const checked = everything.filter(({ kind }) => kind !== 'PrometheusRule');
    expect((await Promise.all(checked.map(schemaErrors))).flat()).toEqual([]);
    expect(named(everything, 'ServiceMonitor')).toEqual(['control-plane', 'data-plane']);
    expect(named(everything, 'Ingress')).toEqual(['gateway']);
    expect(named(everything, 'HTTPRoute')).toEqual(['gateway']);
    expect(named(everything, 'ConfigMap')).toContain('gateway-traffic');
    expect(named(everything, 'StatefulSet').toSorted()).toEqual(['nats', 'postgres']);
    const volumes = valuesOf(one(everything, 'Deployment', 'data-plane'), 'volumes').flat();
    const [egress] = valuesOf(one(everything, 'NetworkPolicy', 'control-plane'), 'egress');
    const networks = EVERYTHING.networkPolicies.postgresCidrs;
    const to = networks.map((cidr) => ({ ipBlock: { cidr } }));
    expect(egress).toContainEqual({ ports: [{ port: 5432 }], to });
    const data = { name: 'data', ephemeral: { volumeClaimTemplate: { spec: claim() } } };
    expect(volumes).toContainEqual(data);
  });

  it('keeps rules and dashboards as they are', async () => {
    const everything = await rendered(EVERYTHING);
    const [groups] = valuesOf(one(everything, 'PrometheusRule', 'gateway'), 'groups');
    const rules = parseAllDocuments(
      await readFile(path.join(deploy, 'prometheus/rules.yml'), 'utf8'),
    );
    expect({ groups }).toEqual(rules[0]?.toJS());
    const [data] = valuesOf(one(everything, 'ConfigMap', 'gateway-traffic'), 'data');
    const file = path.join(deploy, 'grafana/dashboards/gateway-traffic.json');
    const text = (data as Record<string, string>)['gateway-traffic.json'] ?? '';
    expect(text.trim()).toBe((await readFile(file, 'utf8')).trim());
  });

  it('changes what its values name, and nothing else', async () => {
    const before = byName(await rendered());
    const after = byName(
      await rendered({ dataPlane: { env: { REGION: 'eu', DRAIN_TIMEOUT_MS: '20000' } } }),
    );
    const changed = Object.keys(after).filter(
      (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
    );
    expect(changed).toEqual(['Deployment data-plane']);
    const [variables] = valuesOf(after['Deployment data-plane'], 'env');
    expect(variables).toContainEqual({ name: 'REGION', value: 'eu' });
    expect(variables).toContainEqual({ name: 'DRAIN_TIMEOUT_MS', value: '20000' });
  });

  it('names images by registry, tag and digest', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const resources = await rendered({
      image: { registry: 'registry.example.com/edge', pullSecrets: [{ name: 'pull' }] },
      controlPlane: { image: { tag: '7.9.0' } },
      dataPlane: { image: { digest } },
    });
    const imagesOf = (name: string) => valuesOf(one(resources, 'Deployment', name), 'image');
    expect(imagesOf('control-plane')).toEqual(['registry.example.com/edge/control-plane:7.9.0']);
    expect(imagesOf('data-plane')).toEqual([`registry.example.com/edge/data-plane@${digest}`]);
    const pulled = valuesOf(one(resources, 'Deployment', 'data-plane'), 'imagePullSecrets');
    expect(pulled).toEqual([[{ name: 'pull' }]]);
  });

  it('installs data planes alone, for a region without control planes and with its own NATS', async () => {
    const resources = await rendered({
      controlPlane: { enabled: false },
      nats: { enabled: false },
      dataPlane: { env: { CONTROL_PLANE_URL: 'https://manage.example.com' } },
    });
    expect(named(resources, 'Deployment')).toEqual(['data-plane']);
    expect(named(resources, 'StatefulSet')).toEqual([]);
    expect(named(resources, 'NetworkPolicy').toSorted()).toEqual(['data-plane', 'default-deny']);
  });

  it.each([
    [
      'a setting that does not exist',
      { dataPlane: { env: { DRAIN_TIMEOUT: '1' } } },
      'DRAIN_TIMEOUT',
    ],
    [
      'a setting that is a number',
      { controlPlane: { env: { NATS_REPLICAS: 3 } } },
      'NATS_REPLICAS',
    ],
    ['a value that does not exist', { dataPlane: { replica: 3 } }, 'replica'],
    ['a text that is no digest', { dataPlane: { image: { digest: 'sha256:1' } } }, 'digest'],
  ])('refuses %s', async (_what, values, name) => {
    const { code, output } = await template(values);
    expect(code).not.toBe(0);
    expect(output).toContain(name);
  });

  it('removes a default with null', async () => {
    const resources = await rendered({ controlPlane: { env: { NATS_REPLICAS: null } } });
    const [variables] = valuesOf(one(resources, 'Deployment', 'control-plane'), 'env');
    expect((variables as { name: string }[]).map(({ name }) => name)).not.toContain(
      'NATS_REPLICAS',
    );
  });

  it('describes every value', () => {
    const rows = makeChart(VERSION).values.toRows();
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter(([, , description]) => !/^[A-Z].*\.$/.test(description))).toEqual([]);
  });
});

describe.each(['trial', 'production'])('the overlay %s', (name) => {
  it('is rendered by kustomize, and has valid resources', async () => {
    const args = ['kustomize', path.join(deploy, 'kubernetes/overlays', name)];
    const file = path.join(folder, `${name}.yaml`);
    const all = ['-c', `exec "$0" "$@" > ${file}`, tools.kubectl, ...args];
    await runOrThrow('sh', all, { env: env(), timeoutMs: COMMAND_MS });
    const resources = resourcesIn(await readFile(file, 'utf8'));
    expect((await Promise.all(resources.map(schemaErrors))).flat()).toEqual([]);
    expect(named(resources, 'Deployment')).toEqual(['control-plane', 'data-plane']);
  });
});

const EVERYTHING = {
  image: { pullPolicy: 'Always', pullSecrets: [{ name: 'pull' }] },
  controlPlane: {
    replicas: 3,
    annotations: { 'argocd.argoproj.io/sync-wave': '0' },
    podAnnotations: { 'example.com/team': 'edge' },
    podLabels: { team: 'edge' },
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    tolerations: [{ key: 'edge', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/gateway' },
    envFrom: [{ configMapRef: { name: 'settings' } }],
    extraEnv: [{ name: 'LOG_LEVEL', value: 'debug' }],
    podDisruptionBudget: { maxUnavailable: '50%' },
  },
  dataPlane: {
    service: { type: 'LoadBalancer', annotations: { 'example.com/kind': 'network' } },
    autoscaling: { minReplicas: 3, maxReplicas: 50, targetRequestsInFlight: '2000' },
    extraVolumes: [{ name: 'tls', secret: { secretName: 'tls' } }],
    extraVolumeMounts: [{ name: 'tls', mountPath: '/etc/certificates', readOnly: true }],
    dataVolume: { emptyDir: null, ephemeral: { volumeClaimTemplate: { spec: claim() } } },
  },
  nats: { storage: { size: '50Gi', className: 'fast' }, maxFileStore: '40GB' },
  networkPolicies: { postgresCidrs: ['10.20.0.0/24', '10.21.0.0/24'] },
  postgres: { enabled: true },
  monitoring: { enabled: true, labels: { release: 'prometheus' } },
  dashboards: { enabled: true },
  ingress: { enabled: true, host: 'api.example.org', annotations: { 'example.com/team': 'edge' } },
  httpRoute: { enabled: true },
};

function claim(): object {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
}
