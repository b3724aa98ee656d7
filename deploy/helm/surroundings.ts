import { templatesOf, type Template } from './template.ts';
import type { Values } from './values.ts';

const POSTGRES_PORT = 5432;

/** The NetworkPolicies, each only if the chart installs what it is about. */
export function policyTemplates(values: Values): Template[] {
  const enabled = values.declare(
    'networkPolicies.enabled',
    true,
    'Whether pods may connect only as docs/run/kubernetes.md draws it.',
  );
  const postgres = values.declare(
    'networkPolicies.postgresCidrs',
    [],
    'The networks of Postgres, such as 10.20.0.0/24; empty for any address on its port.',
    { type: 'array', items: { type: 'string' } },
  );
  const conditions: Readonly<Record<string, string>> = {
    'control-plane': '.Values.controlPlane.enabled',
    'data-plane': '.Values.dataPlane.enabled',
    nats: '.Values.nats.enabled',
  };
  return templatesOf('kubernetes/base/network-policies.yaml').map((one) => {
    const condition = conditions[one.name];
    if (one.name === 'control-plane') {
      one.add(['spec', 'egress', egressTo(one, POSTGRES_PORT)], () => [
        `{{- with ${postgres} }}`,
        'to:',
        '  {{- range . }}',
        '  - ipBlock:',
        '      cidr: {{ . | quote }}',
        '  {{- end }}',
        '{{- end }}',
      ]);
    }
    one.when(enabled);
    return condition === undefined ? one : one.when(condition);
  });
}

/** The egress rule of a NetworkPolicy for a port. @throws Error if there is none, or if the rule is for another port too */
function egressTo(policy: Template, port: number): number {
  const rules = policy.read(['spec', 'egress']) as { readonly ports?: { port: unknown }[] }[];
  const found = rules.findIndex(({ ports }) => ports?.[0]?.port === port && ports.length === 1);
  if (found === -1) throw new Error(`the policy ${policy.name} has no rule for port ${port}`);
  return found;
}

/** Ingress and HTTPRoute: callers reach data planes, operators reach control planes. */
export function entryTemplates(values: Values): Template[] {
  const [ingress] = templatesOf('kubernetes/examples/ingress.yaml');
  const [, route] = templatesOf('kubernetes/examples/gateway-api.yaml');
  if (ingress === undefined || route === undefined) throw new Error('the examples have moved');
  const enabled = values.declare('ingress.enabled', false, 'Whether there is an Ingress.');
  ingress.remove(['metadata', 'namespace']);
  const declare = (name: string, path: readonly (string | number)[], description: string) =>
    values.declare(`ingress.${name}`, ingress.read(path), description);
  const className = ['spec', 'ingressClassName'];
  ingress.inline(className, declare('className', className, 'The class of the controller.'));
  const host = declare('host', ['spec', 'rules', 0, 'host'], 'The host name of the gateway.');
  ingress.inline(['spec', 'rules', 0, 'host'], `${host} | quote`);
  ingress.inline(['spec', 'tls', 0, 'hosts', 0], `${host} | quote`);
  const secret = ['spec', 'tls', 0, 'secretName'];
  ingress.inline(secret, declare('tlsSecret', secret, 'The Secret with its certificate.'));
  const annotations = values.declare('ingress.annotations', {}, 'Annotations of the Ingress.');
  ingress.add(['metadata'], (indent) => [
    `{{- with ${annotations} }}`,
    'annotations:',
    `  {{- toYaml . | nindent ${indent + 2} }}`,
    '{{- end }}',
  ]);
  const ofManagement = 'Whether the management API and the console are reachable there too.';
  const management = values.declare('ingress.management', true, ofManagement);
  conditional(ingress, ['spec', 'rules', 0, 'http', 'paths'], management);
  const routed = values.declare('httpRoute.enabled', false, 'Whether there is an HTTPRoute.');
  route.remove(['metadata', 'namespace']);
  const parents = ['spec', 'parentRefs'];
  const ofParents = 'The Gateways that the route is attached to.';
  route.block(parents, values.declare('httpRoute.parentRefs', route.read(parents), ofParents));
  const names = ['spec', 'hostnames'];
  const ofNames = 'The host names of the gateway.';
  route.block(names, values.declare('httpRoute.hostnames', route.read(names), ofNames));
  conditional(route, ['spec', 'rules'], values.declare('httpRoute.management', true, ofManagement));
  return [ingress.when(enabled), route.when(routed)];
}

/** The second item of a list, which leads to the control planes, exists only if a value is true. */
function conditional(template: Template, list: readonly (string | number)[], condition: string) {
  const item = template.read([...list, 1]);
  template.remove([...list, 1]);
  template.add(list, (indent) => [
    `{{- if ${condition} }}`,
    `- {{- ${JSON.stringify(JSON.stringify(item))} | fromJson | toYaml | nindent ${indent + 2} }}`,
    '{{- end }}',
  ]);
}

/** What the Prometheus operator reads. */
export function monitoringTemplates(values: Values): Template[] {
  const enabled = values.declare(
    'monitoring.enabled',
    false,
    'Whether there are ServiceMonitors and a PrometheusRule for the Prometheus operator.',
  );
  const labels = values.declare(
    'monitoring.labels',
    {},
    'Labels by which your Prometheus finds them.',
  );
  return templatesOf('kubernetes/components/monitoring/service-monitors.yaml').map((one) =>
    one
      .add(['metadata', 'labels'], (indent) => [
        `{{- with ${labels} }}`,
        `{{- toYaml . | nindent ${indent} }}`,
        '{{- end }}',
      ])
      .when(enabled),
  );
}
