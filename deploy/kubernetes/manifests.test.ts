import { describe, expect, it } from '@jest/globals';
import { IMAGE_UID } from '../images/image.ts';
import { invalidValues, SETTINGS, stopTimeMs, wrongNames, type PlaneName } from '../settings.ts';
import { deployment, podLabels, resourcesOf, valuesOf } from './manifests.ts';
import { schemaErrors, type Resource } from './schemas.ts';

const PLANES = ['control-plane', 'data-plane'] as const satisfies PlaneName[];
const PORTS = {
  'control-plane': {
    http: SETTINGS['control-plane'].CONTROL_PLANE_PORT.parse(undefined),
    admin: SETTINGS['control-plane'].CONTROL_PLANE_ADMIN_PORT.parse(undefined),
  },
  'data-plane': {
    http: SETTINGS['data-plane'].GATEWAY_PORT.parse(undefined),
    admin: SETTINGS['data-plane'].DATA_PLANE_ADMIN_PORT.parse(undefined),
  },
};
/** Room between the longest stop and the kill, ms. */
const MARGIN_MS = 3000;

const deployed = resourcesOf('base', 'components/monitoring', 'components/postgres');
const examples = resourcesOf('examples');
const all = [...deployed, ...examples];
const pods = all.map(podLabels).filter((labels) => labels !== undefined);
const isPlane = (name: string): name is PlaneName => Object.hasOwn(SETTINGS, name);

function planeOf(plane: PlaneName) {
  const found = deployed.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === plane,
  );
  return deployment.parse(found);
}

function matches(
  wanted: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
) {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** What a resource selects by our own labels; those of namespaces are of the cluster. */
function selections(resource: Resource): Readonly<Record<string, string>>[] {
  const ofService = resource.kind === 'Service' ? valuesOf(resource, 'selector') : [];
  const found = [...valuesOf(resource, 'matchLabels'), ...ofService] as Record<string, string>[];
  return found.filter((labels) => Object.keys(labels).every((key) => key.startsWith('app.')));
}

it('follows the schemas of Kubernetes and of the operators, and has no unknown field', async () => {
  const errors = await Promise.all(all.map(schemaErrors));
  expect(errors.flat()).toEqual([]);
});

it('finds unknown fields and wrong types', async () => {
  const [deploymentOfPlane] = deployed.filter(({ kind }) => kind === 'Deployment');
  const wrong = structuredClone(deploymentOfPlane) as unknown as {
    spec: { minReadySeconds: unknown; template: { spec: { containers: object[] } } };
  };
  wrong.spec.minReadySeconds = 'five';
  Object.assign(wrong.spec.template.spec.containers[0] ?? {}, { readyProbe: {} });
  expect(await schemaErrors(wrong as unknown as Resource)).toEqual([
    'Deployment control-plane: /spec/minReadySeconds type {"type":"integer"}',
    'Deployment control-plane: /spec/template/spec/containers/0/readyProbe does not exist',
  ]);
});

describe.each(PLANES)('the Deployment of the %s', (plane) => {
  const { spec } = planeOf(plane).spec.template;
  const [container] = spec.containers;
  const values = Object.fromEntries(
    container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );

  it('sets only settings that the plane has, all that it requires, and valid values', () => {
    const names = container.env.map(({ name }) => name);
    expect(wrongNames(plane, names)).toEqual([]);
    expect(invalidValues(plane, values)).toEqual([]);
  });

  it('uses the ports of the code, and probes the admin port', () => {
    const ports = container.ports.map(({ name, containerPort }) => [name, containerPort]);
    expect(Object.fromEntries(ports)).toEqual(PORTS[plane]);
    const probe = (path: string) => ({ httpGet: { path, port: 'admin' } });
    expect(container.startupProbe).toEqual(probe('/healthz'));
    expect(container.livenessProbe).toEqual(probe('/healthz'));
    expect(container.readinessProbe).toEqual(probe('/readyz'));
  });

  it('has more time than it needs to stop', () => {
    const stopMs = container.lifecycle.preStop.sleep.seconds * 1000 + stopTimeMs(plane, values);
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(stopMs + MARGIN_MS);
  });

  it('runs as the user of the image, with an account without a token', () => {
    expect(spec.securityContext.runAsUser).toBe(IMAGE_UID);
    const accounts = deployed.filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts).toContainEqual(
      expect.objectContaining({
        metadata: { name: spec.serviceAccountName },
        automountServiceAccountToken: false,
      }),
    );
    expect(all.filter(({ kind }) => kind.endsWith('Binding'))).toEqual([]);
  });
});

it('sets only settings of the planes in overlays', () => {
  const patches = resourcesOf('overlays/production', 'overlays/trial').filter(({ metadata }) =>
    isPlane(metadata.name),
  );
  const problems = patches.flatMap((patch) => {
    const name = patch.metadata.name;
    const env = valuesOf(patch, 'env').flat() as { name: string; value: string }[];
    if (!isPlane(name) || env.length === 0) return [];
    const ofBase = planeOf(name).spec.template.spec.containers[0].env.map((one) => one.name);
    const values = Object.fromEntries(env.map((one) => [one.name, one.value]));
    return [
      ...wrongNames(name, [...ofBase, ...Object.keys(values)]),
      ...invalidValues(name, values),
    ];
  });
  expect(problems).toEqual([]);
  expect(patches.length).toBeGreaterThan(0);
});

it('selects something with every selector', () => {
  const services = all
    .filter(({ kind }) => kind === 'Service')
    .map(({ metadata }) => metadata.labels ?? {});
  const empty = all.flatMap((resource) => {
    const candidates = resource.kind === 'ServiceMonitor' ? services : pods;
    return selections(resource)
      .filter((wanted) => !candidates.some((labels) => matches(wanted, labels)))
      .map((wanted) => `${resource.kind} ${resource.metadata.name}: ${JSON.stringify(wanted)}`);
  });
  expect(empty).toEqual([]);
});

it('has a budget, a network policy and a service for each workload, and denies all else', () => {
  const named = (kind: string) =>
    deployed.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
  for (const name of ['control-plane', 'data-plane', 'nats']) {
    expect(named('PodDisruptionBudget')).toContain(name);
    expect(named('NetworkPolicy')).toContain(name);
    expect(named('Service')).toContain(name);
  }
  expect(named('NetworkPolicy')).toContain('default-deny');
});

it('has an External Secret for each key of a Secret that it reads', () => {
  const offered = examples
    .filter(({ kind }) => kind === 'ExternalSecret')
    .flatMap((one) =>
      valuesOf(one, 'secretKey').map((key) => `${one.metadata.name}/${String(key)}`),
    );
  const read = resourcesOf('base', 'examples')
    .flatMap((one) => valuesOf(one, 'secretKeyRef') as { name: string; key: string }[])
    .map(({ name, key }) => `${name}/${key}`);
  expect([...new Set(read)].filter((one) => !offered.includes(one))).toEqual([]);
});

it('splits the paths between services and ports that exist', () => {
  const backends = examples.flatMap((one) => [
    ...(valuesOf(one, 'service') as { name: string; port: { name: string } }[]).map(
      ({ name, port }) => `${name}:${PORTS[name as PlaneName][port.name as 'http']}`,
    ),
    ...(valuesOf(one, 'backendRefs').flat() as { name: string; port: number }[]).map(
      ({ name, port }) => `${name}:${port}`,
    ),
  ]);
  const split = PLANES.toReversed().map((plane) => `${plane}:${PORTS[plane].http}`);
  expect(backends).toEqual([...split, ...split]);
});
