import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen } from './listen.ts';

describe('listen', () => {
  const servers: Server[] = [];
  const newServer = () => {
    const server = createServer();
    servers.push(server);
    return server;
  };
  const on = (port: number) => ({ host: '127.0.0.1', port, portVariable: 'SOME_PORT' });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('picks a free port for 0 and returns it', async () => {
    expect(await listen(newServer(), on(0))).toBeGreaterThan(0);
  });

  it('names a port that is in use and its setting', async () => {
    const port = await listen(newServer(), on(0));
    await expect(listen(newServer(), on(port))).rejects.toThrow(
      `port ${port} is in use; set SOME_PORT`,
    );
  });
});
