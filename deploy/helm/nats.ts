import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { secretName } from './environment.ts';
import { ifSet, templatesOf, type Template } from './template.ts';
import type { Values } from './values.ts';

const POD = ['spec', 'template', 'spec'] as const;
const CONTAINER = [...POD, 'containers', 0] as const;
const CLAIM = ['spec', 'volumeClaimTemplates', 0, 'spec'] as const;
const FILES = ['cluster.conf', 'rights.conf'] as const;

/** The templates of the NATS cluster. */
export function natsTemplates(values: Values): Template[] {
  const enabled = values.declare(
    'nats.enabled',
    true,
    'Whether the chart installs NATS. Without it, NATS_URL of both Secrets names your own.',
  );
  const templates = templatesOf('kubernetes/base/nats.yaml');
  for (const one of templates.filter(({ kind }) => kind === 'StatefulSet')) {
    storage(one, 'nats', values);
    const image = [...CONTAINER, 'image'];
    one.inline(
      image,
      `${values.declare('nats.image', one.read(image), 'The image of NATS.')} | quote`,
    );
    const resources = [...CONTAINER, 'resources'];
    const ofResources = 'Requests and limits of a server.';
    one.block(resources, values.declare('nats.resources', one.read(resources), ofResources));
    for (const index of [1, 2]) {
      const name = [...CONTAINER, 'env', index, 'valueFrom', 'secretKeyRef', 'name'];
      one.inline(name, secretName('nats', values));
    }
    one.inline([...POD, 'volumes', 1, 'secret', 'secretName'], secretName('nats-tls', values));
    // A changed file restarts the servers, as the name of the ConfigMap does with kustomize.
    const digest = createHash('sha256').update(FILES.map(configFile).join('')).digest('hex');
    one.add(['spec', 'template', 'metadata'], () => [
      'annotations:',
      `  gateway.internal/nats-config: "${digest.slice(0, 16)}-{{ .Values.nats.maxFileStore }}"`,
    ]);
  }
  return templates.map((one) => one.when(enabled));
}

/** The size and class of the volumes of a StatefulSet. */
function storage(one: Template, key: string, values: Values): void {
  const size = [...CLAIM, 'resources', 'requests', 'storage'];
  const ofSize = 'The size of a volume.';
  one.inline(size, values.declare(`${key}.storage.size`, one.read(size), ofSize));
  const ofClass = 'The StorageClass of the volumes; empty for the default one.';
  const storageClass = values.declare(`${key}.storage.className`, '', ofClass);
  one.add(CLAIM, () => [
    `{{- with ${storageClass} }}`,
    'storageClassName: {{ . | quote }}',
    '{{- end }}',
  ]);
}

/** The ConfigMap with the configuration of NATS, which kustomize makes of the same files. */
export function natsConfig(values: Values): string {
  const [preset = ''] = /(?<=max_file_store: )\S+/.exec(configFile('cluster.conf')) ?? [];
  const description = 'What NATS may store: less than the volume, which holds its log too.';
  const expression = values.declare('nats.maxFileStore', preset, description);
  const data = FILES.flatMap((file) => [
    `  ${file}: |`,
    ...configFile(file)
      .replace(`max_file_store: ${preset}`, `max_file_store: {{ ${expression} }}`)
      .trimEnd()
      .split('\n')
      .map((line) => (line === '' ? '' : `    ${line}`)),
  ]);
  return [
    '{{- if .Values.nats.enabled }}',
    '---',
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: nats-config',
    '  labels:',
    '    {{- include "gateway.labels" . | nindent 4 }}',
    'data:',
    ...data,
    '{{- end }}',
    '',
  ].join('\n');
}

function configFile(name: (typeof FILES)[number]): string {
  return readFileSync(new URL(`../nats/${name}`, import.meta.url), 'utf8');
}

/** The single Postgres of trials. */
export function postgresTemplates(values: Values): Template[] {
  const enabled = values.declare(
    'postgres.enabled',
    false,
    'A single Postgres without a standby, for trials. In production use a managed one.',
  );
  const templates = templatesOf('kubernetes/components/postgres/postgres.yaml');
  for (const one of templates.filter(({ kind }) => kind === 'StatefulSet')) {
    storage(one, 'postgres', values);
    const name = [...CONTAINER, 'env', 2, 'valueFrom', 'secretKeyRef', 'name'];
    one.inline(name, secretName('postgres', values));
    one.add(POD, ifSet('imagePullSecrets', '.Values.image.pullSecrets'));
  }
  return templates.map((one) => one.when(enabled));
}
