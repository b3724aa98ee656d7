import type { Conversion, Draft } from '../draft.ts';
import { WrongType, type SourceNode } from '../source-node.ts';
import { setUpstreams } from '../upstreams-field.ts';
import { isAddress, isHealthPath, within } from '../values.ts';

/** What a route needs of its upstream. */
export interface ApisixUpstream {
  readonly draft: Draft;
  readonly node: SourceNode;
  readonly nodeCount: number;
}

/** Services, one for each upstream: those of the list are shared by the routes that name them. */
export class ApisixServices {
  readonly #conversion: Conversion;
  readonly #byId: ReadonlyMap<string, SourceNode>;
  readonly #made = new Map<string, ApisixUpstream>();

  constructor(conversion: Conversion, byId: ReadonlyMap<string, SourceNode>) {
    this.#conversion = conversion;
    this.#byId = byId;
  }

  /** The service of an upstream of the list; undefined if the list does not have it. */
  named(id: string): ApisixUpstream | undefined {
    const made = this.#made.get(id);
    if (made !== undefined) return made;
    const node = this.#byId.get(id);
    if (node === undefined) return undefined;
    const upstream = this.inline(node, node.text('name') ?? id);
    this.#made.set(id, upstream);
    return upstream;
  }

  /** The service of an upstream that stands in a route or a service. */
  inline(node: SourceNode, name: string): ApisixUpstream {
    const draft = this.#conversion.addService(name, node.place);
    let nodeCount = 1;
    try {
      nodeCount = readUpstream(this.#conversion, draft, node);
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      draft.leftOut = `${error.place}: ${error.message}`;
    }
    return { draft, node, nodeCount };
  }

  /** Makes services of the upstreams that no route names. */
  reportRest(): void {
    for (const id of this.#byId.keys()) this.named(id);
  }
}

interface UpstreamNode {
  readonly host: string;
  readonly weight: number;
  readonly priority: number;
}

function readUpstream(conversion: Conversion, draft: Draft, node: SourceNode): number {
  node.ignore(
    'id',
    'name',
    'type',
    'hash_on',
    'key',
    'pass_host',
    'upstream_host',
    'timeout',
    'retries',
  );
  node.ignore('keepalive_pool', 'create_time', 'update_time', 'checks');
  const scheme = node.text('scheme') ?? 'http';
  const nodes = readNodes(node.get('nodes'), scheme);
  const inUse = nodes.filter(({ weight, priority }) => weight > 0 && priority === 0);
  if (!/^https?$/.test(scheme)) draft.leftOut = `the gateway has no upstreams of ${scheme}`;
  else if (node.has('service_name')) draft.leftOut = 'its addresses come from service discovery';
  else if (inUse.length === 0) draft.leftOut = 'its upstream has no nodes with a weight';
  else if (!inUse.every(({ host }) => isAddress(host))) {
    draft.leftOut = 'an address of its nodes is no host with a port';
  }
  node.ignore('discovery_type', 'service_name', 'discovery_args');
  if (nodes.some(({ priority }) => priority !== 0)) {
    draft.missing(node.place, 'nodes of another priority: see regions', 'upstreams');
  }
  setUpstreams(
    draft,
    inUse.map(({ host, weight }) => ({ url: `${scheme}://${host}`, weight })),
  );
  if (scheme === 'https') {
    const text =
      'certificates of upstreams are always verified here; see tls.ca_pem and tls.server_name';
    draft.different(node.place, text, 'upstreams');
  }
  readChecks(draft, node.get('checks'));
  for (const { name, place } of node.unread()) {
    if (name === 'desc' || name === 'labels')
      conversion.repeated('missing', place, 'desc and labels');
    else if (name === 'tls') draft.missing(place, 'tls: set tls.client_certificate');
    else draft.missing(place, name);
  }
  return inUse.length;
}

function readNodes(node: SourceNode | undefined, scheme: string): readonly UpstreamNode[] {
  if (node === undefined) return [];
  const port = scheme === 'https' ? 443 : 80;
  const withPort = (host: string) => (/:\d+$/.test(host) ? host : `${host}:${port}`);
  if (!Array.isArray(node.value)) {
    return node.fields().map(({ name, value }) => ({
      host: withPort(name),
      weight: typeof value === 'number' ? value : 1,
      priority: 0,
    }));
  }
  return node.items().map((item) => ({
    host: withPort(
      `${item.text('host') ?? ''}${item.has('port') ? `:${item.number('port')}` : ''}`,
    ),
    weight: item.number('weight') ?? 1,
    priority: item.number('priority') ?? 0,
  }));
}

function readChecks(draft: Draft, node: SourceNode | undefined): void {
  const active = node?.get('active');
  if (active === undefined) {
    const text =
      'no active health check: the gateway checks health_path of every upstream, which changes nothing while none of them answers it';
    draft.note(node?.place ?? draft.place, text, 'health_path');
    return;
  }
  const healthy = active.get('healthy');
  const unhealthy = active.get('unhealthy');
  if (!/^https?$/.test(active.text('type') ?? 'http')) {
    draft.missing(active.place, 'active health checks that are not of HTTP', 'health_path');
    return;
  }
  const path = active.text('http_path') ?? '/';
  if (!isHealthPath(path)) {
    draft.missing(active.place, 'active health checks with such a path', 'health_path');
    return;
  }
  draft.fields.set('health_path', path);
  const seconds = Math.max(healthy?.number('interval') ?? 1, unhealthy?.number('interval') ?? 1);
  const interval_ms = within(seconds * 1000, 500, 300_000);
  draft.fields.set('health_check', {
    interval_ms,
    timeout_ms: within((active.number('timeout') ?? 1) * 1000, 1, interval_ms),
    healthy_threshold: within(healthy?.number('successes') ?? 2, 1, 20),
    unhealthy_threshold: within(unhealthy?.number('http_failures') ?? 5, 1, 20),
  });
  active.ignore('concurrency', 'https_verify_certificate', 'type', 'timeout', 'http_path');
  for (const { name, place } of active.unread()) {
    draft.missing(
      place,
      `${name} of active health checks: a GET at the host of the upstream is sent`,
      'health_check',
    );
  }
  const statuses = healthy?.get('http_statuses') ?? unhealthy?.get('http_statuses');
  if (statuses === undefined) return;
  draft.missing(
    statuses.place,
    'http_statuses of active health checks: 200 to 299 is healthy here',
    'health_check',
  );
}
