import type { components } from '@gateway/client';
import type { Draft } from '../../ui/form/draft.ts';

type Service = components['schemas']['Service'];

/** The fields of a service whose objects a PATCH merges. */
export const MERGED_SERVICE_FIELDS = ['health_check', 'limits', 'tls'] as const;

/** The fields that may hold a secret while it is typed. */
export const SECRET_SERVICE_FIELDS = ['credential', 'tls', 'tls.client_certificate'] as const;

/** An upstream that was not filled in yet. */
export const NEW_UPSTREAM = { url: '', region: null, weight: 1 } as const;

/** The draft of a service that does not exist yet: what the API takes for a field that is left out. */
export const NEW_SERVICE: Draft = {
  name: '',
  upstreams: [NEW_UPSTREAM],
  health_path: '/healthz',
  health_check: {
    path: null,
    interval_ms: 5000,
    timeout_ms: 2000,
    healthy_threshold: 2,
    unhealthy_threshold: 3,
  },
  limits: { max_in_flight: null, max_connections: null, max_pending: null, adaptive: false },
  send_via: false,
  credential: null,
  tls: null,
};

/** What can be edited of a service. `url` is that of the first upstream, so it is left out. */
export function draftOf(service: Service): Draft {
  const { name, upstreams, health_path, health_check, limits, send_via, credential, tls } = service;
  // A response has the path that is requested, also where the setting is null.
  const path = health_check.path === health_path ? null : health_check.path;
  return {
    name,
    upstreams,
    health_path,
    health_check: { ...health_check, path },
    limits,
    send_via,
    credential,
    tls,
  };
}
