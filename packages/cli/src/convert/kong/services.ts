import type { Conversion, Draft } from '../draft.ts';
import { WrongType, type SourceNode } from '../source-node.ts';
import { isAddress, isPath } from '../values.ts';
import { useUpstream, type KongUpstream } from './upstreams.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 5;

/** A service of Kong, and what its routes need of it. */
export interface KongService {
  readonly draft: Draft;
  readonly node: SourceNode;
  readonly isEnabled: boolean;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly upstream: KongUpstream | undefined;
  /** Whether the URL of the service has a path. */
  readonly hasPath: boolean;
}

/** Makes a service of one of Kong, with the targets of its upstream. */
export function readService(
  conversion: Conversion,
  node: SourceNode,
  upstreams: ReadonlyMap<string, KongUpstream>,
): KongService {
  const draft = conversion.addService(node.text('name'), node.place);
  try {
    return readFields(draft, node, upstreams);
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    draft.leftOut = `${error.place}: ${error.message}`;
    const settings = { isEnabled: true, timeoutMs: 1, retries: 0, upstream: undefined };
    return { draft, node, hasPath: false, ...settings };
  }
}

function readFields(
  draft: Draft,
  node: SourceNode,
  upstreams: ReadonlyMap<string, KongUpstream>,
): KongService {
  const { place } = node;
  node.ignore('id', 'created_at', 'updated_at', 'routes', 'plugins');
  const url = partsOf(node);
  const upstream = url && upstreams.get(url.host);
  const timeoutMs = node.number('read_timeout') ?? DEFAULT_TIMEOUT_MS;
  if (url === undefined) {
    draft.leftOut = 'its address is not a URL of http or https';
  } else if (upstream !== undefined) useUpstream(draft, upstream, url);
  else draft.fields.set('url', `${url.protocol}://${url.host}${url.port}${url.path}`);
  if (url?.protocol === 'https' && node.flag('tls_verify') !== true) {
    const text =
      'certificates of upstreams are always verified here; see tls.ca_pem and tls.server_name';
    draft.different(place, text, 'url');
  }
  node.ignore('tls_verify');
  for (const name of ['connect_timeout', 'write_timeout'] as const) {
    const value = node.number(name);
    if (value === undefined || value === DEFAULT_TIMEOUT_MS || value === timeoutMs) continue;
    const text =
      name === 'connect_timeout'
        ? `connect_timeout ${value}: CONNECT_TIMEOUT_MS of the data plane bounds it for all services`
        : `write_timeout ${value}: timeout_ms of the routes bounds it`;
    draft.missing(place, text);
  }
  return {
    draft,
    node,
    isEnabled: node.flag('enabled') !== false,
    timeoutMs,
    retries: node.number('retries') ?? DEFAULT_RETRIES,
    upstream,
    hasPath: (url?.path ?? '') !== '',
  };
}

interface Parts {
  readonly protocol: string;
  readonly host: string;
  /** Empty, or with a colon. */
  readonly port: string;
  /** Empty, or without a slash at its end. */
  readonly path: string;
}

function partsOf(node: SourceNode): Parts | undefined {
  const given = node.text('url');
  if (given !== undefined) return partsOfUrl(given);
  const protocol = node.text('protocol') ?? 'http';
  const port = node.number('port') ?? (protocol === 'https' ? 443 : 80);
  const host = node.text('host') ?? '';
  return partsOfUrl(`${protocol}://${host}:${port}${node.text('path') ?? ''}`);
}

function partsOfUrl(text: string): Parts | undefined {
  const parts = /^(https?):\/\/([^/:]+|\[[^/]+\])(:\d{1,5})?(\/.*)?$/.exec(text);
  if (parts === null || !isAddress((parts[2] ?? '') + (parts[3] ?? ''))) return undefined;
  const [, protocol = '', host = '', port = '', path = '/'] = parts;
  if (!isPath(path) && path !== '/') return undefined;
  const isDefault = port === (protocol === 'https' ? ':443' : ':80');
  return { protocol, host, port: isDefault ? '' : port, path: path.replace(/\/$/, '') };
}

/** Reports what a service has and ours do not. */
export function reportService(conversion: Conversion, { node, draft }: KongService): void {
  const secrets = new Map([
    ['client_certificate', 'the client certificate: set tls.client_certificate'],
    ['ca_certificates', 'the authorities of its certificate: set tls.ca_pem'],
  ]);
  for (const { name, place } of node.unread()) {
    if (name === 'tags') conversion.repeated('missing', place, 'tags');
    else draft.missing(place, secrets.get(name) ?? name);
  }
}
