import pg from 'pg';
import type { PostgresServers } from './writable-server.ts';

/**
 * Opens one connection outside of a pool, to a server that can be used. Its errors never end the process.
 *
 * @param prepare runs before the connection is returned; if it fails, the connection counts as failed
 */
export function connectClient(
  servers: PostgresServers,
  settings: pg.ClientConfig,
  prepare: (client: pg.Client) => Promise<unknown> = () => Promise.resolve(),
): Promise<pg.Client> {
  return servers.connect(async () => {
    const server = servers.current;
    const client = new pg.Client({ ...settings, connectionString: server.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await servers.verify(client, server);
      await prepare(client);
      return client;
    } catch (error) {
      // The connection may be dead already, so errors of its end do not matter.
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}
