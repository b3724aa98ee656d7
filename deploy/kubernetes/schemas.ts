/** A resource of Kubernetes, as far as every kind has the same fields. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

interface Validator {
  (data: unknown): boolean;
  readonly errors?: readonly { instancePath: string; keyword: string; params: object }[] | null;
}

const CORE = 'kubernetes-models/_schemas/IoK8sApi';
const OPERATOR =
  '@kubernetes-models/prometheus-operator/_schemas/ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoring';
const SECRETS =
  '@kubernetes-models/external-secrets/_schemas/ComGithubExternalSecretsExternalSecretsApisExternalsecrets';
const GATEWAY = '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApis';

/** The schema of each kind that the manifests use. */
const SCHEMAS: Readonly<Record<string, string>> = {
  'v1/Namespace': `${CORE}CoreV1Namespace`,
  'v1/ConfigMap': `${CORE}CoreV1ConfigMap`,
  'v1/Service': `${CORE}CoreV1Service`,
  'v1/ServiceAccount': `${CORE}CoreV1ServiceAccount`,
  'apps/v1/Deployment': `${CORE}AppsV1Deployment`,
  'apps/v1/StatefulSet': `${CORE}AppsV1StatefulSet`,
  'batch/v1/Job': `${CORE}BatchV1Job`,
  'autoscaling/v2/HorizontalPodAutoscaler': `${CORE}AutoscalingV2HorizontalPodAutoscaler`,
  'policy/v1/PodDisruptionBudget': `${CORE}PolicyV1PodDisruptionBudget`,
  'networking.k8s.io/v1/NetworkPolicy': `${CORE}NetworkingV1NetworkPolicy`,
  'networking.k8s.io/v1/Ingress': `${CORE}NetworkingV1Ingress`,
  'monitoring.coreos.com/v1/ServiceMonitor': `${OPERATOR}V1ServiceMonitor`,
  'external-secrets.io/v1/ExternalSecret': `${SECRETS}V1ExternalSecret`,
  'gateway.networking.k8s.io/v1/Gateway': `${GATEWAY}V1Gateway`,
  'gateway.networking.k8s.io/v1/HTTPRoute': `${GATEWAY}V1HTTPRoute`,
};

/** An object that remembers which of its fields were read, and so do the objects in it. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const copy: Record<string, unknown> | unknown[] = isList ? [] : {};
  for (const [key, inner] of Object.entries(value)) {
    const place = `${path}/${key}`;
    if (!isList) unread.add(place);
    Reflect.set(copy, key, watched(inner, place, unread));
  }
  return new Proxy(copy, {
    get(target, key) {
      unread.delete(`${path}/${String(key)}`);
      return Reflect.get(target, key) as unknown;
    },
  });
}

/**
 * What is wrong with a resource: fields with a wrong type or value, required fields that are missing, and fields that do not exist.
 * The schemas allow unknown fields, as an old API server must. So a field that its validator never reads is unknown.
 */
export async function schemaErrors(resource: Resource): Promise<string[]> {
  const kind = `${resource.apiVersion}/${resource.kind}`;
  const module = SCHEMAS[kind];
  if (module === undefined) return [`${kind} has no schema here`];
  // By its file: the packages of operators export no schemas by name.
  const file = new URL(`../node_modules/${module}.js`, import.meta.url);
  const { validate } = (await import(file.href)) as { readonly validate: Validator };
  const unread = new Set<string>();
  const name = `${resource.kind} ${resource.metadata.name}`;
  validate(watched(resource, '', unread));
  return [
    ...(validate.errors ?? []).map(
      ({ instancePath, keyword, params }) =>
        `${name}: ${instancePath} ${keyword} ${JSON.stringify(params)}`,
    ),
    ...[...unread].map((place) => `${name}: ${place} does not exist`),
  ];
}
