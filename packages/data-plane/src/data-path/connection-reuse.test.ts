import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestDataPath } from '../testing/data-path.ts';
import { closeAfterEach } from '../testing/opened.ts';
import { rawConnection, requestText } from '../testing/raw-client.ts';
import { startUpstream } from '../testing/upstream.ts';

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
  it('serves request after request of every kind and gathers no listeners', async () => {
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

  it('gets the answers to what it sent ahead in the order in which it sent it', async () => {
    const held: (() => void)[] = [];
    const upstream = opened(
      await startUpstream((seen, response) => {
        const answer = () => response.end(seen.url);
        // The first is answered last.
        if (seen.url === '/0') held.push(answer);
        else answer();
        if (held.length === 1 && upstream.seen.length === 20) held[0]?.();
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    const targets = Array.from({ length: 20 }, (_none, index) => `/v1/proxy/test/${index}`);
    connection.send(targets.map((target) => requestText({ target, lines })).join(''));
    for (let index = 0; index < 20; index += 1) {
      expect(await (await connection.response()).text()).toBe(`/${index}`);
    }
    expect(gateway.records).toHaveLength(20);
  });
});
