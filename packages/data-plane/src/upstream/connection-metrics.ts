import { CLIENT_END_REASONS, type ClientEndReason } from '@gateway/http/http2/client/options';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Registry } from 'prom-client';
import type { OpenConnections } from './upstream-connector.ts';

export interface ConnectionMetrics {
  /** Counts a connection that ended because of its upstream. */
  readonly ended: (reason: ClientEndReason) => void;
}

export interface ConnectionGauges {
  readonly open: Readonly<OpenConnections>;
  readonly streams: () => number;
}

/** Registers the metrics of connections to upstreams. The gauges are read at a scrape. */
export function createConnectionMetrics(
  registry: Registry,
  { open, streams }: ConnectionGauges,
): ConnectionMetrics {
  const instruments = new Instruments(registry);
  instruments.observeGauges(
    'gateway_upstream_connections',
    'Connections to upstreams that are open, those of health checks included, by protocol',
    ['protocol'],
    () => Object.entries(open).map(([protocol, count]) => [{ protocol }, count] as const),
  );
  instruments.observeGauge(
    'gateway_upstream_streams',
    'Requests, WebSockets and health checks in progress on HTTP/2 connections to upstreams',
    streams,
  );
  const ended = instruments.counterBy(
    'gateway_upstream_connections_ended_total',
    'HTTP/2 connections to upstreams that this data plane ended before their time, by reason',
    'reason',
    CLIENT_END_REASONS,
  );
  return { ended: (reason) => ended.inc({ reason }) };
}
