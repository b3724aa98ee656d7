import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { listen } from './listen.ts';

describe('listen', () => {
  const servers: Server[] = [];
  const newServer = () => {
    const server = createServer();
    servers.push(server);
    return server;
  };
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    {},
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  let notAccepted = 0;
  const on = (port: number) => ({
    host: '127.0.0.1',
    port,
    portVariable: 'SOME_PORT',
    log,
    notAccepted: () => void (notAccepted += 1),
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('picks a free port for 0 and returns it', async () => {
    expect(await listen(newServer(), on(0))).toBeGreaterThan(0);
  });

  it('counts and logs connections that cannot be accepted, ever more rarely, and listens on', async () => {
    const server = newServer();
    const port = await listen(server, on(0));
    // As Node reports that the operating system could not give it a connection.
    const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' });
    for (let count = 0; count < 100; count += 1) server.emit('error', error);
    expect(lines.map(({ msg, errors, port: logged }) => [msg, errors, logged])).toEqual(
      [1, 2, 4, 8, 16, 32, 64].map((errors) => ['connections not accepted', errors, port]),
    );
    expect(notAccepted).toBe(100);
    const accepted = once(server, 'connection');
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .end();
    await accepted;
  });

  it('names a port that is in use and its setting', async () => {
    const port = await listen(newServer(), on(0));
    await expect(listen(newServer(), on(port))).rejects.toThrow(
      `port ${port} is in use; set SOME_PORT`,
    );
  });
});
