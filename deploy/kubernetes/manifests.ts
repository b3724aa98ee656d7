import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readYaml } from '../read-yaml.ts';
import type { Resource } from './schemas.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The resources of these folders: no kustomization, and no patch, which is only a part of a resource. */
export function resourcesOf(...folders: readonly string[]): Resource[] {
  return folders.flatMap((one) => {
    const files = readdirSync(path.join(folder, one)).filter((file) => file.endsWith('.yaml'));
    return files
      .flatMap((file) => readYaml(`kubernetes/${one}/${file}`))
      .filter((document) => resource.safeParse(document).success)
      .filter((document) => !isPatch(document)) as Resource[];
  });
}

const resource = z.object({
  apiVersion: z.string().regex(/^(?!kustomize)/),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});

/** The patch of the autoscaler is the only resource of a component that is not whole. */
function isPatch(document: unknown): boolean {
  return !z
    .union([
      z.object({
        kind: z.literal('HorizontalPodAutoscaler'),
        spec: z.object({ scaleTargetRef: z.object() }),
      }),
      z.object({ kind: z.string().regex(/^(?!HorizontalPodAutoscaler)/) }),
    ])
    .safeParse(document).success;
}

const labels = z.record(z.string(), z.string());
const selector = z.object({ matchLabels: labels });
const port = z.object({ name: z.string(), containerPort: z.int() });
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }).optional();
const variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }).optional() })
    .optional(),
});

const container = z.object({
  name: z.string(),
  image: z.string(),
  ports: z.array(port).default([]),
  env: z.array(variable).default([]),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.int() }) }) }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});

/** What the tests read of a Deployment of a plane. */
export const deployment = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    selector,
    template: z.object({
      metadata: z.object({ labels }),
      spec: z.object({
        serviceAccountName: z.string(),
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.int() }),
        containers: z.tuple([container]),
      }),
    }),
  }),
});

/** Every value of this key in a document, however deep. */
export function valuesOf(document: unknown, key: string): unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]: [string, unknown]) => [
    ...(name === key ? [value] : []),
    ...valuesOf(value, key),
  ]);
}

/** The labels of the pods that a workload makes; undefined for other resources. */
export function podLabels(resource: Resource): Readonly<Record<string, string>> | undefined {
  const found = z
    .object({ spec: z.object({ template: z.object({ metadata: z.object({ labels }) }) }) })
    .safeParse(resource);
  return found.data?.spec.template.metadata.labels;
}
