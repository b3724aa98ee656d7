import type { Server } from 'node:http';

/** The upstream's port on 127.0.0.1, set by the bench. */
export const upstreamPort = Number(process.env['UPSTREAM_PORT']);

/** Serves on the port that the bench sets, until SIGTERM or SIGINT. */
export function listen(server: Server): void {
  server.listen(Number(process.env['PORT']), '127.0.0.1', 1024);
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
}
