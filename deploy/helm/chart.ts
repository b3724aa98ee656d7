import { readdirSync, readFileSync } from 'node:fs';
import { natsConfig, natsTemplates, postgresTemplates } from './nats.ts';
import { planeTemplates } from './plane.ts';
import { entryTemplates, monitoringTemplates, policyTemplates } from './surroundings.ts';
import type { Template } from './template.ts';
import { Values } from './values.ts';

export const CHART = 'gateway-helm';
/** The oldest Kubernetes whose fields the manifests use. */
const KUBERNETES = '>=1.32.0-0';
const HEADING = 'The defaults are those of deploy/kubernetes/base, of which this chart is made.';

/** The values of the chart, and its files by their paths. */
export interface Chart {
  readonly values: Values;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Makes the Helm chart of the manifests of `deploy/kubernetes`: with its defaults it renders what kustomize makes of the base, and its
 * values are the places at which clusters differ.
 */
export function makeChart(version: string): Chart {
  const values = new Values();
  values.declare(
    'image.registry',
    'gateway',
    'Where the images are, such as registry.example.com/gateway.',
  );
  values.declare(
    'image.pullPolicy',
    '',
    'When images are pulled; empty for the default of Kubernetes.',
    {
      enum: ['', 'Always', 'IfNotPresent', 'Never'],
    },
  );
  values.declare('image.pullSecrets', [], 'Secrets of the registry, as [{ name: … }].');
  const planes = [
    ['control-plane', 'controlPlane'],
    ['data-plane', 'dataPlane'],
  ] as const;
  const templates = new Map<string, string>(
    planes.map(([plane, key]) => [plane, textOf(planeTemplates(plane, key, values))]),
  );
  templates.set('nats', textOf(natsTemplates(values)));
  templates.set('nats-config', natsConfig(values));
  templates.set('postgres', textOf(postgresTemplates(values)));
  templates.set('network-policies', textOf(policyTemplates(values)));
  templates.set('entry', textOf(entryTemplates(values)));
  templates.set('service-monitors', textOf(monitoringTemplates(values)));
  templates.set('prometheus-rule', prometheusRule());
  templates.set('dashboards', dashboards(values));
  const files = new Map([
    ['Chart.yaml', chartFile(version)],
    ['values.yaml', values.toYaml(HEADING)],
    ['values.schema.json', values.toSchema()],
    ['LICENSE', read('../LICENSE')],
    ['README.md', README],
    ['templates/_names.tpl', NAMES],
    ['templates/NOTES.txt', NOTES],
    ['files/rules.yml', read('prometheus/rules.yml')],
  ]);
  for (const [name, text] of templates) files.set(`templates/${name}.yaml`, text);
  for (const name of dashboardFiles()) {
    files.set(`files/dashboards/${name}`, read(`grafana/dashboards/${name}`));
  }
  return { values, files: new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

function textOf(templates: readonly Template[]): string {
  return templates.map((one) => one.add(['metadata', 'labels'], labels).toString()).join('');
}

function labels(indent: number): readonly string[] {
  return [`{{- include "gateway.labels" $ | nindent ${indent} }}`];
}

function chartFile(version: string): string {
  return [
    'apiVersion: v2',
    `name: ${CHART}`,
    'description: The gateway - control planes, data planes and a NATS cluster',
    'type: application',
    `version: ${version}`,
    `appVersion: ${version}`,
    `kubeVersion: '${KUBERNETES}'`,
    '',
  ].join('\n');
}

function prometheusRule(): string {
  return [
    '{{- if .Values.monitoring.enabled }}',
    '---',
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: gateway',
    '  labels:',
    '    {{- with .Values.monitoring.labels }}',
    '    {{- toYaml . | nindent 4 }}',
    '    {{- end }}',
    '    {{- include "gateway.labels" . | nindent 4 }}',
    'spec:',
    '  {{- .Files.Get "files/rules.yml" | nindent 2 }}',
    '{{- end }}',
    '',
  ].join('\n');
}

function dashboards(values: Values): string {
  const description = 'Whether there are ConfigMaps for the sidecar of Grafana.';
  const enabled = values.declare('dashboards.enabled', false, description);
  return [
    `{{- if ${enabled} }}`,
    '{{- range $path, $content := .Files.Glob "files/dashboards/*.json" }}',
    '---',
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: {{ base $path | trimSuffix ".json" }}',
    '  labels:',
    '    grafana_dashboard: "1"',
    '    {{- include "gateway.labels" $ | nindent 4 }}',
    '  annotations:',
    '    grafana_folder: Gateway',
    'data:',
    '  {{ base $path }}: |-',
    '    {{- $.Files.Get $path | trimSuffix "\\n" | nindent 4 }}',
    '{{- end }}',
    '{{- end }}',
    '',
  ].join('\n');
}

function dashboardFiles(): readonly string[] {
  return readdirSync(new URL('../grafana/dashboards/', import.meta.url)).toSorted();
}

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

/** Names are fixed, as in the manifests: one installation for each namespace. */
const NAMES = `{{- define "gateway.labels" -}}
app.kubernetes.io/part-of: gateway
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "gateway.image" -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}
`;

const NOTES = `The gateway {{ .Chart.AppVersion }} is being installed in the namespace {{ .Release.Namespace }}.

  kubectl -n {{ .Release.Namespace }} rollout status {{ if .Values.nats.enabled }}statefulset/nats {{ end }}{{ if .Values.controlPlane.enabled }}deployment/control-plane {{ end }}{{ if .Values.dataPlane.enabled }}deployment/data-plane{{ end }}
{{- if .Values.dataPlane.enabled }}
  kubectl -n {{ .Release.Namespace }} port-forward service/data-plane 8080:8080 &
  smoke-test.sh http://127.0.0.1:8080
{{- end }}

Pods wait until the Secrets of make-secrets.sh exist. docs/run/install.md describes every step.
`;

const README = `# ${CHART}

The Helm chart of the gateway. It is made of the manifests in \`deploy/kubernetes\`: with its defaults it installs the
same resources as \`kubectl apply -k\` of the base. \`values.yaml\` describes every value.

One installation for each namespace: the names of the resources are fixed.
`;
