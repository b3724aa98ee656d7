import type { PlaneName } from '../settings.ts';
import { environmentOf, secretName } from './environment.ts';
import { ifSet, itemsOf, templatesOf, type Lines, type Template } from './template.ts';
import type { Values } from './values.ts';

const POD = ['spec', 'template', 'spec'] as const;
const CONTAINER = [...POD, 'containers', 0] as const;
const METADATA = ['spec', 'template', 'metadata'] as const;

/** The templates of a plane: Deployment, Services, budget, autoscaler. */
export function planeTemplates(plane: PlaneName, key: string, values: Values): Template[] {
  const enabled = values.declare(
    `${key}.enabled`,
    true,
    key === 'controlPlane'
      ? 'Whether this cluster has control planes. A second region may have data planes only.'
      : 'Whether this cluster has data planes.',
  );
  const templates = templatesOf(`kubernetes/base/${plane}.yaml`);
  const byKind = (kind: string) => templates.filter((one) => one.kind === kind);
  for (const one of byKind('Deployment')) deployment(one, plane, key, values);
  for (const one of byKind('HorizontalPodAutoscaler')) autoscaler(one, key, values);
  for (const one of byKind('Service').filter(({ name }) => name === plane)) {
    const type = values.declare(
      `${key}.service.type`,
      '',
      'Of the Service of this plane, such as LoadBalancer; empty for ClusterIP.',
      { enum: ['', 'ClusterIP', 'NodePort', 'LoadBalancer'] },
    );
    const annotations = values.declare(
      `${key}.service.annotations`,
      {},
      'Annotations of that Service, such as those of a load balancer.',
    );
    one.add(['spec'], plain('type', type));
    one.add(['metadata'], ifSet('annotations', annotations));
  }
  for (const one of byKind('PodDisruptionBudget')) {
    const path = ['spec', 'maxUnavailable'];
    const budget = `${key}.podDisruptionBudget`;
    const description = 'How many pods a drain of nodes may stop at once.';
    const schema = { type: ['integer', 'string'] };
    one.inline(
      path,
      values.declare(`${budget}.maxUnavailable`, one.read(path), description, schema),
    );
    one.when(values.declare(`${budget}.enabled`, true, 'Whether drains of nodes are limited.'));
  }
  for (const one of byKind('ServiceAccount')) {
    const description = 'Annotations of the account, such as the role of a cloud.';
    one.add(
      ['metadata'],
      ifSet('annotations', values.declare(`${key}.serviceAccountAnnotations`, {}, description)),
    );
  }
  return templates.map((one) => one.when(enabled));
}

function deployment(one: Template, plane: PlaneName, key: string, values: Values): void {
  image(one, plane, key, values);
  if (key === 'controlPlane') {
    const path = ['spec', 'replicas'];
    one.inline(path, values.declare(`${key}.replicas`, one.read(path), 'How many pods.'));
  } else {
    const replicas = values.declare(`${key}.replicas`, 2, 'How many pods, without the autoscaler.');
    one.add(['spec'], () => [
      `{{- if not .Values.${key}.autoscaling.enabled }}`,
      `replicas: {{ ${replicas} }}`,
      '{{- end }}',
    ]);
  }
  environmentOf(one, plane, key, values);
  const value = (name: string, path: readonly (string | number)[], description: string) =>
    values.declare(`${key}.${name}`, one.read(path), description);
  const resources = [...CONTAINER, 'resources'];
  one.block(resources, value('resources', resources, 'Requests and limits of a pod.'));
  const grace = [...POD, 'terminationGracePeriodSeconds'];
  const ofGrace = 'Longer than preStop (5 s), DRAIN_TIMEOUT_MS and 11 s together.';
  one.inline(grace, value('terminationGracePeriodSeconds', grace, ofGrace));
  const spread = [...POD, 'topologySpreadConstraints'];
  one.block(spread, value('topologySpreadConstraints', spread, 'How pods are spread.'));
  if (plane === 'data-plane') {
    const volume = [...POD, 'volumes', 2];
    const data = { emptyDir: (one.read(volume) as { emptyDir: object }).emptyDir };
    const description =
      'The volume with the last configuration and the spool of records. With another kind set emptyDir: null.';
    one.remove([...volume, 'emptyDir']);
    one.add(volume, itemsOf(values.declare(`${key}.dataVolume`, data, description)));
  }
  one.inline([...POD, 'volumes', 1, 'secret', 'secretName'], secretName('nats-tls', values));
  const empty = (name: string, preset: unknown, description: string) =>
    values.declare(`${key}.${name}`, preset, description);
  const ofOne = empty(
    'annotations',
    {},
    'Annotations of the Deployment, such as a wave of Argo CD.',
  );
  one.add(['metadata'], ifSet('annotations', ofOne));
  const annotations = empty('podAnnotations', {}, 'Annotations of the pods.');
  one.add(METADATA, ifSet('annotations', annotations));
  one.add([...METADATA, 'labels'], itemsOf(empty('podLabels', {}, 'More labels of the pods.')));
  for (const [name, preset, description] of PLACEMENT) {
    one.add(POD, ifSet(name, empty(name, preset, description)));
  }
  const priority = empty('priorityClassName', '', 'The class that decides who is evicted first.');
  one.add(POD, plain('priorityClassName', priority));
  one.add(POD, ifSet('imagePullSecrets', '.Values.image.pullSecrets'));
  const envFrom = empty('envFrom', [], 'ConfigMaps and Secrets whose keys are settings.');
  one.add(CONTAINER, ifSet('envFrom', envFrom));
  const volumes = empty('extraVolumes', [], 'More volumes, such as certificates of callers.');
  one.add([...POD, 'volumes'], itemsOf(volumes));
  const mounts = empty('extraVolumeMounts', [], 'Where the container has them.');
  one.add([...CONTAINER, 'volumeMounts'], itemsOf(mounts));
}

const PLACEMENT = [
  ['nodeSelector', {}, 'Labels of the nodes for the pods.'],
  ['tolerations', [], 'Taints that the pods tolerate.'],
  ['affinity', {}, 'Affinity of the pods.'],
] as const;

function plain(key: string, expression: string): Lines {
  return () => [`{{- with ${expression} }}`, `${key}: {{ . | quote }}`, '{{- end }}'];
}

function image(one: Template, plane: PlaneName, key: string, values: Values): void {
  values.declare(`${key}.image.repository`, plane, 'The name of the image in the registry.');
  values.declare(`${key}.image.tag`, '', 'By default the version of the chart.');
  const digest = 'Takes the place of the tag: sha256:… of images-<version>.json.';
  values.declare(`${key}.image.digest`, '', digest, {
    type: 'string',
    pattern: '^(sha256:[0-9a-f]{64})?$',
  });
  const path = [...CONTAINER, 'image'];
  one.inline(path, `include "gateway.image" (dict "root" $ "image" $.Values.${key}.image) | quote`);
  one.add(CONTAINER, plain('imagePullPolicy', '.Values.image.pullPolicy'));
}

function autoscaler(one: Template, key: string, values: Values): void {
  const enabled = `${key}.autoscaling.enabled`;
  one.when(values.declare(enabled, true, 'Whether the load decides about the number of pods.'));
  const declare = (name: string, path: readonly (string | number)[], description: string) =>
    one.inline(path, values.declare(`${key}.autoscaling.${name}`, one.read(path), description));
  declare('minReplicas', ['spec', 'minReplicas'], 'The fewest pods.');
  declare('maxReplicas', ['spec', 'maxReplicas'], 'The most pods.');
  const target = ['spec', 'metrics', 0, 'resource', 'target', 'averageUtilization'];
  declare('targetCPUUtilizationPercentage', target, 'The use of CPU that pods are added at.');
  // Of the component: the second metric needs an adapter.
  const [patch] = templatesOf('kubernetes/components/monitoring/scale-on-requests.yaml');
  const metric = ['spec', 'metrics', 1] as const;
  const amount = [...metric, 'pods', 'target', 'averageValue'];
  const inFlight = values.declare(
    `${key}.autoscaling.targetRequestsInFlight`,
    '',
    `Requests in flight of a pod that pods are added at, such as "${String(patch?.read(amount))}". Needs an adapter for custom metrics.`,
  );
  one.add(['spec', 'metrics'], () => [
    `{{- with ${inFlight} }}`,
    '- type: Pods',
    '  pods:',
    `    metric: { name: ${String(patch?.read([...metric, 'pods', 'metric', 'name']))} }`,
    '    target: { type: AverageValue, averageValue: {{ . | quote }} }',
    '{{- end }}',
  ]);
}
