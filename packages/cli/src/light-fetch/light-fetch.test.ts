import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lightFetch } from './light-fetch.ts';
import { LightHeaders } from './light-headers.ts';
import { LightRequest } from './light-request.ts';

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly port: number | undefined;
}

describe('a fetch that starts soon', () => {
  let server: Server;
  let url: string;
  const seen: Seen[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const { method, url: target, headers, socket } = request;
        seen.push({ line: `${method} ${target}`, headers, body, port: socket.remotePort });
        if (target === '/cut') {
          response.writeHead(200, { 'content-length': 10 }).write('half', () => socket.destroy());
        } else if (target !== '/never') {
          response.writeHead(target === '/moved' ? 301 : 404, [
            ...['Location', '/other', 'X-Twice', 'a', 'X-Twice', 'b'],
          ]);
          response.end('{"é": 1}');
        }
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends a call as it is, and answers with all of the response', async () => {
    const headers = new LightHeaders({ 'Content-Type': 'application/json', 'X-A': 'b' });
    const request = new LightRequest(`${url}/v1/é?a=b`, { method: 'PATCH', headers, body: '"é"' });
    const response = await lightFetch(request.clone());
    expect([response.status, response.ok, response.url]).toEqual([
      404,
      false,
      `${url}/v1/%C3%A9?a=b`,
    ]);
    expect(await response.json()).toEqual({ é: 1 });
    expect(response.headers.get('x-twice')).toBe('a, b');
    expect([...response.headers].map(([name]) => name)).toContain('location');
    expect(seen.at(-1)).toMatchObject({
      line: 'PATCH /v1/%C3%A9?a=b',
      body: '"é"',
      headers: { 'x-a': 'b', 'content-type': 'application/json', 'content-length': '4' },
    });
  });

  it('follows no redirect, which would send the token elsewhere, and keeps its connection', async () => {
    const before = seen.length;
    const moved = await lightFetch(new LightRequest(`${url}/moved`));
    await lightFetch(new LightRequest(`${url}/next`));
    expect([moved.status, moved.ok]).toEqual([301, false]);
    const [first, second, ...others] = seen.slice(before);
    expect([others, second?.port]).toEqual([[], first?.port]);
  });

  it('ends with the reason of a signal, before or while it waits', async () => {
    const reason = new Error('there was no complete response within 5 ms');
    const request = new LightRequest(`${url}/never`, { signal: AbortSignal.abort(reason) });
    await expect(lightFetch(request)).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = lightFetch(new LightRequest(`${url}/never`), { signal: controller.signal });
    const arrived = once(server, 'request');
    await arrived;
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('ends with the error of the connection', async () => {
    await expect(lightFetch(new LightRequest(`${url}/cut`))).rejects.toThrow('aborted');
    const unused = createServer();
    await once(unused.listen(0, '127.0.0.1'), 'listening');
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const refused = lightFetch(new LightRequest(`http://127.0.0.1:${port}/`));
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const plain = lightFetch(new LightRequest(url.replace('http:', 'https:')));
    await expect(plain).rejects.toThrow(/wrong version number|packet length too long/);
  });
});
