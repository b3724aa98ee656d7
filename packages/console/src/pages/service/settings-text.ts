import { amountText } from '@gateway/client/amounts';
import { countedText } from '@gateway/client/measures';
import type { Service } from '../../api/client.ts';

/** The credential without its secret, in words. */
export function credentialText({ credential }: Pick<Service, 'credential'>): string {
  if (credential === null) return 'none';
  const kinds = { bearer: 'Bearer token', basic: 'User name and password', header: 'Value' };
  return `${kinds[credential.type]} in the header ${credential.header}`;
}

type Spoken = Pick<Service, 'protocol' | 'websocket_protocol'> & {
  readonly upstreams: readonly { readonly url: string }[];
};

/** The version of HTTP to the upstreams, in words. */
export function protocolText(service: Spoken): string {
  const { websocket_protocol: ofSockets } = service;
  const sockets = ofSockets === 'http2' ? '; WebSockets over the same connections' : '';
  return versionText(service) + sockets;
}

function versionText({ protocol, upstreams }: Omit<Spoken, 'websocket_protocol'>): string {
  const isSecure = upstreams.some(({ url }) => url.startsWith('https:'));
  switch (protocol) {
    case 'http1':
      return 'HTTP/1.1';
    case 'http2':
      return 'HTTP/2';
    case 'auto':
      return isSecure ? 'HTTP/2 if the upstream chooses it, else HTTP/1.1' : 'HTTP/1.1';
  }
}

/** TLS to upstreams, in words. */
export function tlsText({ tls }: Pick<Service, 'tls'>): string {
  if (tls === null) return 'the roots and the name that the gateway expects by default';
  const { ca_pem: roots, server_name: name, client_certificate: certificate } = tls;
  const parts = [
    roots === null ? undefined : 'only its own roots are trusted',
    name === null ? undefined : `the certificate must be for ${name}`,
    certificate === null ? undefined : 'the gateway shows a client certificate',
  ].filter((part) => part !== undefined);
  return parts.join('; ');
}

/** The health check, in words. */
export function healthCheckText({
  health_check: check,
  health_path,
}: Pick<Service, 'health_check' | 'health_path'>): string {
  const { path, interval_ms, timeout_ms, healthy_threshold, unhealthy_threshold } = check;
  const within = timeout_ms === undefined ? '' : `, with ${amountText(timeout_ms, 'ms')} to answer`;
  const asked =
    check.type === 'grpc'
      ? `grpc.health.v1 of ${check.grpc_service === '' ? 'the server' : check.grpc_service}`
      : `GET ${path ?? health_path}`;
  return (
    `${asked} every ${amountText(interval_ms, 'ms')}${within}; unhealthy after ` +
    `${times(unhealthy_threshold, 'failure')}, healthy after ${times(healthy_threshold, 'success')}`
  );
}

/** The limits in each data plane, in words. */
export function limitsText({ limits }: Pick<Service, 'limits'>): string {
  const { max_in_flight: flight, max_connections: connections, max_pending: pending } = limits;
  const parts = [
    flight === null
      ? 'half of the requests that a data plane takes at one time'
      : `${countedText(flight, 'request')} at one time`,
    connections === null ? undefined : `${countedText(connections, 'connection')} to each upstream`,
    pending === null
      ? undefined
      : `${countedText(pending, 'request')} waiting for a connection to each upstream`,
    limits.adaptive ? 'fewer requests while latency rises' : undefined,
  ].filter((part) => part !== undefined);
  return parts.join('; ');
}

function times(count: number, what: 'failure' | 'success'): string {
  if (count === 1) return `1 ${what}`;
  return `${count} ${what === 'success' ? 'successes' : 'failures'} in a row`;
}
