import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { Registry } from 'prom-client';
import { createHttpMetrics } from './metrics.ts';
import { startServer } from './server.ts';

const options = () => ({
  ...{ host: '127.0.0.1', port: 0, authFailureLimit: 600 },
  newId: createIdFactory(() => Date.now()),
  metrics: createHttpMetrics(new Registry()),
});

describe('the management port', () => {
  it('lets a call that is under way end when it closes, and takes no more', async () => {
    let arrived: () => void = () => undefined;
    let answer: () => void = () => undefined;
    const underWay = new Promise<void>((resolve) => (arrived = resolve));
    const server = await startServer((_request, response) => {
      answer = () => void response.end('done');
      arrived();
    }, options());
    const url = `http://127.0.0.1:${server.port}/`;
    const call = fetch(url);
    await underWay;
    const closed = server.close();
    await expect(fetch(url)).rejects.toThrow();
    answer();
    expect(await (await call).text()).toBe('done');
    await closed;
  });

  it('counts what is not valid HTTP, by its kind', async () => {
    const given = options();
    const server = await startServer((_request, response) => void response.end(), given);
    for (const request of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n`]) {
      const socket = connect(server.port, '127.0.0.1');
      socket.end(request);
      await text(socket);
    }
    const { values } = await given.metrics.refused.get();
    expect(values.map(({ labels, value }) => [labels.reason, value])).toEqual([
      ['not_http', 1],
      ['header_overflow', 1],
    ]);
    await server.close();
  });
});
