import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { listen, type ListenOptions } from '../net/listen.ts';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface AdminServerOptions extends ListenOptions {
  readonly registry: Registry;
  /** What keeps the process from serving, one text each; empty where it is ready. */
  readonly notReady: () => readonly string[];
  /** What an operator should know of though the process serves on, such as old configuration. */
  readonly degraded?: () => readonly string[];
}

/** A probe or a scrape takes far less; what holds the port longer is cut. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 128;

/**
 * The admin port of a process: `/healthz` (it runs), `/readyz` (200, or 503 with the reasons) and
 * `/metrics` (Prometheus). It is meant for the cluster's inside and has no authentication.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
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
      const reasons = options.notReady();
      const degraded = options.degraded?.() ?? [];
      json(reasons.length === 0 ? 200 : 503, {
        status: reasons.length > 0 ? 'not_ready' : degraded.length > 0 ? 'degraded' : 'ready',
        reasons: [...reasons, ...degraded],
      });
    } else if (path === '/metrics') {
      options.registry.metrics().then(
        (text) =>
          response.writeHead(200, { 'content-type': options.registry.contentType }).end(text),
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
