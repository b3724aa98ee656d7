import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startTestDataPath } from '../../../test/data-path.ts';
import { CONSECUTIVE_FAILURES } from './ejection.ts';

const opened = closeAfterEach();
/** More than a short check waits. */
const TIMEOUT_MS = 600;
const CHUNK = Buffer.alloc(64 * 1024);

/** An upstream that accepts connections and reads nothing. */
async function startHungUpstream() {
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return opened({
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Sends a body without an end, as fast as the gateway takes it. Resolves with the status of the response. */
async function sendWithoutEnd(url: string, token: string): Promise<number | undefined> {
  const sending = request(url, { method: 'PUT', headers: { authorization: `Bearer ${token}` } });
  const send = () => {
    while (!sending.destroyed && sending.write(CHUNK));
  };
  sending.on('drain', send).on('error', () => undefined);
  send();
  const [response] = (await once(sending, 'response')) as [{ statusCode?: number }];
  sending.destroy();
  return response.statusCode;
}

describe('an upstream that takes no more of a streaming body', () => {
  it('is blamed for the timeouts, and the requests are not sent again', async () => {
    const upstreams = [await startHungUpstream(), await startHungUpstream()];
    const urls = upstreams.map(({ url }) => url);
    const gateway = opened(
      await startTestDataPath({
        upstreams: urls,
        retry_count: 2,
        timeout_ms: TIMEOUT_MS,
        max_body_bytes: 1024 ** 3,
      }),
    );
    const calls = 2 * CONSECUTIVE_FAILURES;
    const statuses = await Promise.all(
      Array.from({ length: calls }, () =>
        sendWithoutEnd(`${gateway.url}/v1/proxy/test`, gateway.token),
      ),
    );
    expect(statuses).toEqual(Array(calls).fill(504));
    await eventually(() => expect(gateway.records).toHaveLength(calls));
    for (const { outcome, attempts } of gateway.records) {
      expect([outcome, attempts]).toEqual(['timeout', [expect.anything()]]);
      expect(attempts[0]?.error).toBe('attempt_timeout');
    }
    expect(await gateway.registry.metrics()).toContain(
      'gateway_upstream_transitions_total{to="ejected",reason="consecutive_failures"} 1',
    );
  });
});
