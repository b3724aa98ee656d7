import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const warnings: string[] = [];
const note = (warning: Error) => void warnings.push(warning.name);

beforeEach(() => void process.on('warning', note));
afterEach(() => {
  process.off('warning', note);
  expect(warnings.splice(0)).not.toContain('MaxListenersExceededWarning');
});

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n0\r\n\r\n`;

describe('a connection of a caller', () => {
  it('serves many requests of every kind and accumulates no listeners', async () => {
    const upstream = opened(
      await startUpstream((seen, response) => {
        if (seen.url.includes('large')) response.write('y'.repeat(200_000));
        if (seen.url.includes('busy')) response.statusCode = 503;
        response.end('ok');
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const token = `Authorization: Bearer ${gateway.token}`;
    const kinds: [string, string, readonly string[], string, number][] = [
      ['GET', 'test', [token], '', 200],
      ['GET', 'test?large', [token], '', 200],
      ['POST', 'test', [token, 'Content-Length: 5'], 'hello', 200],
      ['POST', 'test', [token, 'Transfer-Encoding: chunked'], chunk(100_000), 200],
      ['PUT', 'test', [token, 'Transfer-Encoding: chunked'], chunk(100), 200],
      ['PUT', 'test?busy', [token, 'Content-Length: 2'], 'ok', 503],
      ['POST', 'test', ['Content-Length: 5'], 'hello', 401],
      ['POST', 'missing', [token, 'Transfer-Encoding: chunked'], chunk(100_000), 404],
    ];
    for (let round = 0; round < 15; round += 1) {
      for (const [method, path, lines, body, status] of kinds) {
        const all = ['Host: gateway.test', ...lines];
        connection.send(requestText({ method, target: `/v1/proxy/${path}`, lines: all, body }));
        const response = await connection.response();
        expect({ path, status: response.status }).toEqual({ path, status });
        expect(response.complete).toBe(true);
      }
    }
    expect(gateway.records).toHaveLength(15 * kinds.length);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('gets the responses to pipelined requests in order', async () => {
    const upstream = opened(await startUpstream((seen, response) => response.end(seen.url)));
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    const targets = Array.from({ length: 40 }, (_none, index) => `/v1/proxy/test/${index}`);
    connection.send(targets.map((target) => requestText({ target, lines })).join(''));
    for (let index = 0; index < 40; index += 1) {
      expect(await (await connection.response()).text()).toBe(`/${index}`);
    }
    expect(gateway.records).toHaveLength(40);
  });

  it.each([
    ['safe requests', 'GET', 'HEAD'],
    ['a safe request behind an unsafe one', 'POST', 'GET'],
    ['an unsafe request behind a safe one', 'GET', 'DELETE'],
  ])(
    'waits with %s until the first is answered (RFC 9112 section 9.3.2)',
    async (_c, first, second) => {
      const answers: (() => void)[] = [];
      const upstream = opened(
        await startUpstream((seen, response) => void answers.push(() => response.end(seen.method))),
      );
      const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
      const connection = opened(await rawConnection(gateway.port));
      const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
      connection.send(
        [first, second, 'GET'].map((method) => requestText({ method, lines })).join(''),
      );
      for (const [index, method] of [first, second, 'GET'].entries()) {
        await eventually(() => expect(answers.length).toBe(index + 1));
        expect(await gateway.inFlight()).toBe(1);
        answers[index]?.();
        const body = await (await connection.response(method)).text();
        expect(body).toBe(method === 'HEAD' ? '' : method);
      }
      expect(upstream.seen.map(({ method }) => method)).toEqual([first, second, 'GET']);
    },
  );

  it('is paused if it pipelines too much, so that few connections cannot fill the gateway', async () => {
    const upstream = opened(await startUpstream(() => undefined));
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    const megabyte = requestText({ lines: [...lines, `X-Pad: ${'x'.repeat(8000)}`] }).repeat(128);
    // More than the sockets of both sides hold.
    const sent = Array.from({ length: 24 }, () => connection.socket.write(megabyte));
    expect(sent).toContain(false);
    await eventually(() => expect(upstream.seen.length).toBe(1));
    await eventually(() => {
      expect(connection.socket.bytesWritten).toBeGreaterThan(0);
      expect(connection.socket.writableLength).toBeGreaterThan(0);
    });
    expect(await gateway.inFlight()).toBe(1);
    expect(connection.ended).toBe(false);
  });

  it('may pipeline without end as long as it reads the responses', async () => {
    const upstream = opened(await startUpstream());
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    for (let round = 0; round < 4; round += 1) {
      connection.send(requestText({ lines }).repeat(100));
      for (let index = 0; index < 100; index += 1) {
        expect((await connection.response()).status).toBe(200);
      }
    }
  });

  it('cannot hold requests by not reading their responses', async () => {
    const body = 'x'.repeat(8_000_000);
    const upstream = opened(await startUpstream((_seen, response) => void response.end(body)));
    const environment = { BODY_IDLE_TIMEOUT_MS: '300' };
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
    const connection = opened(await rawConnection(gateway.port));
    connection.socket.pause();
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ lines }).repeat(120));
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect(gateway.records.at(-1)?.outcome).not.toBe('success');
    expect(upstream.seen.length).toBeLessThan(5);
  });

  it('handles a pipelined upgrade in its turn', async () => {
    const answers: (() => void)[] = [];
    const upstream = opened(
      await startUpstream((seen, response) => {
        if (seen.url === '/first') answers.push(() => response.end(seen.url));
        else response.end(seen.headers['upgrade']);
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    const upgrade = [...lines, 'Connection: Upgrade', 'Upgrade: websocket'];
    connection.send(
      requestText({ target: '/v1/proxy/test/first', lines }) +
        requestText({ target: '/v1/proxy/test/second', lines: upgrade }),
    );
    await eventually(() => expect(answers.length).toBe(1));
    expect(upstream.seen).toHaveLength(1);
    answers[0]?.();
    expect(await (await connection.response()).text()).toBe('/first');
    // This one does not switch.
    expect((await connection.response()).status).toBe(200);
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('gets a CONNECT refused in its turn and then closes', async () => {
    const upstream = opened(await startUpstream());
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(
      requestText({ lines }) + requestText({ method: 'CONNECT', target: 'a.test:443', lines }),
    );
    expect((await connection.response()).status).toBe(200);
    expect((await connection.response()).status).toBe(405);
    await eventually(() => expect(connection.ended).toBe(true));
    await eventually(() => expect(gateway.records.length).toBe(2));
    expect(await gateway.inFlight()).toBe(0);
  });
});
