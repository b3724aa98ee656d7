import { SETTINGS, type PlaneName } from '../settings.ts';
import type { Template } from './template.ts';
import type { Values } from './values.ts';

const ENV = ['spec', 'template', 'spec', 'containers', 0, 'env'] as const;
/** What Node reads, and the planes do not know. */
const OF_NODE = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'];

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string } };
}

/** Makes the settings of a plane, and the names of the Secrets that it reads, values of the chart. */
export function environmentOf(
  template: Template,
  plane: PlaneName,
  key: string,
  values: Values,
): void {
  const variables = template.read(ENV) as readonly Variable[];
  const presets = variables.flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const settings = values.declare(
    `${key}.env`,
    Object.fromEntries(presets),
    'Settings by their names (docs/run/settings.md). Quote numbers; null removes a default.',
    settingsSchema(plane),
  );
  for (const [index, { name, value, valueFrom }] of [...variables.entries()].reverse()) {
    if (value !== undefined) template.remove([...ENV, index]);
    const secret = valueFrom?.secretKeyRef?.name;
    if (secret === undefined) continue;
    const expression = secretName(secret, values);
    template.inline([...ENV, index, 'valueFrom', 'secretKeyRef', 'name'], expression);
    if (name === '') throw new Error('a variable has no name');
  }
  template.add(ENV, () => [
    `{{- range $name, $value := ${settings} }}`,
    '- name: {{ $name }}',
    '  value: {{ $value | quote }}',
    '{{- end }}',
  ]);
  const extra = values.declare(`${key}.extraEnv`, [], 'More variables, as a Pod has them.');
  template.add(ENV, (indent) => [
    `{{- with ${extra} }}`,
    `{{- toYaml . | nindent ${indent} }}`,
    '{{- end }}',
  ]);
}

/** The value that names a Secret, by the name that the manifests give it. */
export function secretName(name: string, values: Values): string {
  const key = name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
  return values.declare(`secrets.${key}`, name, `The Secret that has ${SECRETS[name] ?? name}.`);
}

const SECRETS: Readonly<Record<string, string>> = {
  'gateway-master-keys': 'GATEWAY_MASTER_KEYS',
  'control-plane':
    'DATABASE_URL and NATS_URL of the control planes, and if you like DATABASE_DIRECT_URL and GATEWAY_ADMIN_TOKEN',
  'data-plane': 'NATS_URL of the data planes',
  nats: 'CONTROL_PLANE_NATS_PASSWORD and DATA_PLANE_NATS_PASSWORD',
  'nats-tls': 'tls.crt, tls.key and ca.crt of NATS',
  postgres: 'POSTGRES_PASSWORD, for the Postgres of trials',
};

/** Settings are strings: a number in YAML would reach the plane as 2.147483648e+09. */
function settingsSchema(plane: PlaneName) {
  const names = [...Object.keys(SETTINGS[plane]), ...OF_NODE];
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(names.map((name) => [name, { type: ['string', 'null'] }])),
  };
}
