import type { Conversion, Draft } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import { setUpstreams } from '../upstreams-field.ts';
import { isAddress, isHealthPath, within } from '../values.ts';

const DEFAULT_TARGET_PORT = 8000;
const DEFAULT_WEIGHT = 100;

/** An upstream of Kong as the services that name it need it. */
export interface KongUpstream {
  readonly node: SourceNode;
  readonly targets: readonly { readonly host: string; readonly weight: number }[];
  /** The host that upstreams see instead of that of the target. */
  readonly hostHeader: string | undefined;
}

/** Reads an upstream; what all its services have in common stays in it. */
export function readUpstream(node: SourceNode, targets: readonly SourceNode[]): KongUpstream {
  node.ignore('id', 'name', 'created_at', 'updated_at', 'slots', 'targets');
  const read = targets.map((target) => {
    target.ignore('id', 'upstream', 'created_at', 'updated_at', 'cache_key');
    return {
      host: withPort(target.text('target') ?? ''),
      weight: target.number('weight') ?? DEFAULT_WEIGHT,
    };
  });
  return { node, targets: read, hostHeader: node.text('host_header') };
}

function withPort(target: string): string {
  return /:\d+$/.test(target) ? target : `${target}:${DEFAULT_TARGET_PORT}`;
}

/** Sets the upstreams and the health check of a service. */
export function useUpstream(
  service: Draft,
  { node, targets }: KongUpstream,
  base: { readonly protocol: string; readonly path: string },
): void {
  const inUse = targets.filter(({ weight }) => weight > 0);
  for (const { host } of targets.filter(({ weight }) => weight <= 0)) {
    service.note(
      node.place,
      `the target ${host} has the weight 0 and gets no requests`,
      'upstreams',
    );
  }
  const odd = inUse.find(({ host }) => !isAddress(host));
  if (odd !== undefined) {
    service.leftOut = 'a target of its upstream is no host with a port';
    return;
  }
  if (inUse.length === 0) {
    service.leftOut = 'its upstream has no target with a weight';
    return;
  }
  setUpstreams(
    service,
    inUse.map(({ host, weight }) => ({ url: `${base.protocol}://${host}${base.path}`, weight })),
  );
  readHealthChecks(service, node.get('healthchecks'));
}

function readHealthChecks(service: Draft, node: SourceNode | undefined): void {
  const active = node?.get('active');
  const healthy = active?.get('healthy');
  const unhealthy = active?.get('unhealthy');
  const intervals = [healthy?.number('interval') ?? 0, unhealthy?.number('interval') ?? 0];
  const type = active?.text('type') ?? 'http';
  const seconds = Math.max(...intervals);
  const path = active?.text('http_path') ?? '/';
  if (node === undefined || seconds === 0) {
    const text =
      'no active health check: the gateway checks health_path of every upstream, which changes nothing while none of them answers it';
    service.note(node?.place ?? service.place, text, 'health_path');
    return;
  }
  if (!/^https?$/.test(type)) {
    service.missing(node.place, `active health checks of the type ${type}`, 'health_path');
    return;
  }
  if (!isHealthPath(path)) {
    service.missing(node.place, 'active health checks with such a path', 'health_path');
    return;
  }
  service.fields.set('health_path', path);
  const interval_ms = within(seconds * 1000, 500, 300_000);
  const timeout_ms = within((active?.number('timeout') ?? 1) * 1000, 1, interval_ms);
  const failures = unhealthy?.number('http_failures') ?? 0;
  const successes = healthy?.number('successes') ?? 0;
  service.fields.set('health_check', {
    interval_ms,
    timeout_ms,
    ...(successes > 0 && { healthy_threshold: within(successes, 1, 20) }),
    ...(failures > 0 && { unhealthy_threshold: within(failures, 1, 20) }),
  });
  if (active !== undefined && (active.has('headers') || healthy?.has('http_statuses') === true)) {
    const text = 'headers and http_statuses of active health checks: 200 to 299 is healthy here';
    service.missing(active.place, text, 'health_check');
  }
}

/** Reports once what an upstream has and services do not. */
export function reportUpstream(conversion: Conversion, { node }: KongUpstream): void {
  const upstream = node.text('name') ?? '';
  node.ignore('algorithm', 'hash_on', 'hash_fallback', 'healthchecks', 'host_header');
  for (const field of node.unread()) {
    if (field.name === 'tags') conversion.repeated('missing', field.place, 'tags');
    else conversion.missing(field.place, `${field.name} of the upstream ${upstream}`);
  }
}
