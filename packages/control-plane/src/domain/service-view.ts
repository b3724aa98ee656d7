import { z } from 'zod';
import { timeView } from './fields.ts';
import type { Service } from './service.ts';
import type { StoredCredential } from './service-credential.ts';

/** A service as the API shows it. Source: DESIGN section 2 "Service". */
export const serviceViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  environment: z.string(),
  /** That of the first upstream. */
  url: z.string(),
  health_path: z.string(),
  status: z.enum(['unknown', 'healthy', 'degraded', 'unhealthy']),
  upstreams: z.array(z.object({ url: z.string(), region: z.string().nullable(), weight: z.int() })),
  health_check: z.object({
    path: z.string(),
    interval_ms: z.int(),
    timeout_ms: z.int(),
    healthy_threshold: z.int(),
    unhealthy_threshold: z.int(),
  }),
  /** What it is and when it was set; nothing of what it holds is ever shown. */
  credential: z
    .object({ type: z.enum(['bearer', 'basic', 'header']), header: z.string(), set_at: timeView })
    .nullable(),
  /** Without the private key, which is never shown. */
  tls: z
    .object({
      ca_pem: z.string().nullable(),
      server_name: z.string().nullable(),
      client_certificate: z.object({ cert_pem: z.string(), set_at: timeView }).nullable(),
    })
    .nullable(),
  revision: z.int(),
  created_at: timeView,
  updated_at: timeView,
});

export type ServiceView = z.output<typeof serviceViewSchema>;

export function serviceView(service: Service, status: ServiceView['status']): ServiceView {
  const { path, interval_ms, timeout_ms, healthy_threshold, unhealthy_threshold } =
    service.health_check;
  return {
    id: service.id,
    name: service.name,
    environment: service.environment,
    url: service.upstreams[0]?.url ?? '',
    health_path: service.health_path,
    status,
    upstreams: service.upstreams.map(({ url, region, weight }) => ({ url, region, weight })),
    health_check: {
      path: path ?? service.health_path,
      interval_ms,
      timeout_ms,
      healthy_threshold,
      unhealthy_threshold,
    },
    credential: credentialView(service.credential),
    tls: service.tls,
    revision: service.revision,
    created_at: service.created_at.toISOString(),
    updated_at: service.updated_at.toISOString(),
  };
}

/** A service as audit events show it: without its health, which is no setting. */
export function auditedService(service: Service): object {
  const settings: Partial<ServiceView> = serviceView(service, 'unknown');
  delete settings.status;
  return settings;
}

function credentialView(stored: StoredCredential | null): ServiceView['credential'] {
  if (stored === null) return null;
  const { type, header, set_at } = stored;
  return { type, header, set_at };
}
