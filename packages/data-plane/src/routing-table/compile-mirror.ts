import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';

/** Where copies of the requests of a route go. */
export interface CompiledMirror<Service> {
  readonly serviceId: string;
  /** undefined: this data plane cannot use the service, so it makes no copies. */
  readonly service: Service | undefined;
  /** Of each hundred requests, how many are copied; above 0. */
  readonly percent: number;
  readonly maxBodyBytes: number;
  /** Whether copies have the credentials of callers. */
  readonly passCredentials: boolean;
}

/**
 * The mirror of a route. A route whose mirror has no usable service stays usable itself.
 *
 * @returns undefined if no request is copied
 */
export function compileMirror<Service>(
  mirror: SnapshotRoute['mirror'],
  serviceOf: (id: string) => Service | undefined,
): CompiledMirror<Service> | undefined {
  if (mirror === null || mirror.percent === 0) return undefined;
  return {
    serviceId: mirror.service_id,
    service: serviceOf(mirror.service_id),
    percent: mirror.percent,
    maxBodyBytes: mirror.max_body_bytes,
    passCredentials: mirror.pass_credentials,
  };
}

/** The mirror with the present service. */
export function withMirrorService<Service>(
  mirror: CompiledMirror<Service> | undefined,
  serviceOf: (id: string) => Service | undefined,
): CompiledMirror<Service> | undefined {
  return mirror && { ...mirror, service: serviceOf(mirror.serviceId) };
}
