import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { acceptsOpenMetrics, OPEN_METRICS_TYPE, openMetricsText } from './open-metrics.ts';
import { listen, type ListenOptions } from '../net/listen.ts';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Why a process is not ready, and problems that do not prevent it from serving. */
export interface AdminReadiness {
  readonly notReady: readonly string[];
  readonly degraded: readonly string[];
}

export interface AdminPortOptions extends ListenOptions {
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  /** The metrics in the format OpenMetrics, for callers that accept it; undefined: it is not offered. */
  readonly openMetrics?: (() => Promise<string>) | undefined;
  readonly readiness: () => AdminReadiness | Promise<AdminReadiness>;
}

export interface AdminServerOptions extends ListenOptions {
  readonly registry: Registry;
  /** Why the process is not ready; empty if it is ready. */
  readonly notReady: () => readonly string[];
  /** Whether metrics have exemplars, which only the format OpenMetrics can show. */
  readonly exemplars?: boolean;
  /** Problems that do not prevent the process from serving, such as an old configuration. */
  readonly degraded?: () => readonly string[];
}

/** Far more than a probe or a scrape needs; a slower request is cut off. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 128;

/** Opens the admin port of a single process. */
export function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { host, port, portVariable, log, registry, notReady, degraded, exemplars } = options;
  const openMetrics = exemplars === true ? () => openMetricsText(registry) : undefined;
  const readiness = () => ({ notReady: notReady(), degraded: degraded?.() ?? [] });
  return startAdminPort({ host, port, portVariable, log, registry, openMetrics, readiness });
}

/**
 * Opens an admin port: `/healthz` (200 while the process runs), `/readyz` (200, or 503 with the reasons) and `/metrics`
 * (Prometheus). It has no authentication and must be reachable from inside the cluster only.
 */
export async function startAdminPort(options: AdminPortOptions): Promise<AdminServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      json(405, { status: 'method_not_allowed' });
    } else if (path === '/healthz') {
      json(200, { status: 'ok' });
    } else if (path === '/readyz') {
      Promise.resolve(options.readiness()).then(
        ({ notReady, degraded }) => {
          json(notReady.length === 0 ? 200 : 503, {
            status: notReady.length > 0 ? 'not_ready' : degraded.length > 0 ? 'degraded' : 'ready',
            reasons: [...notReady, ...degraded],
          });
        },
        (error: unknown) => json(500, { status: 'error', reasons: [String(error)] }),
      );
    } else if (path === '/metrics') {
      const open = acceptsOpenMetrics(request.headers.accept) ? options.openMetrics : undefined;
      const type = open === undefined ? options.registry.contentType : OPEN_METRICS_TYPE;
      (open?.() ?? options.registry.metrics()).then(
        (text) => response.writeHead(200, { 'content-type': type }).end(text),
        (error: unknown) => json(500, { status: 'error', reasons: [String(error)] }),
      );
    } else {
      json(404, { status: 'not_found' });
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  const port = await listen(server, options);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
