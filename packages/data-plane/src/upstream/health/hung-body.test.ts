import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startTestDataPath } from '../../../test/data-path.ts';
import { CONSECUTIVE_FAILURES } from './ejection.ts';

const opened = closeAfterEach();
const TIMEOUT_MS = 60_000;
/** After so many looks without one more byte, nothing is on its way: gateway and callers share the event loop. */
const QUIET_LOOKS = 20;
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

/**
 * Sends a body without an end, as fast as the gateway takes it. Resolves with the status of the response.
 *
 * @param sent called for each chunk
 */
async function sendWithoutEnd(
  url: string,
  token: string,
  sent: () => void,
): Promise<number | undefined> {
  const sending = request(url, { method: 'PUT', headers: { authorization: `Bearer ${token}` } });
  const send = () => {
    do sent();
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
    const manual = manualClock();
    // The short timers are those of connections and of the drain at the end.
    const setTimer: Clock['setTimer'] = (delayMs, callback) =>
      (delayMs < 10_000 ? systemClock : manual).setTimer(delayMs, callback);
    const route = {
      ...{ upstreams: urls, retry_count: 2, timeout_ms: TIMEOUT_MS },
      max_body_bytes: 1024 ** 3,
    };
    const gateway = opened(
      await startTestDataPath(route, {
        clock: { ...manual, setTimer },
        environment: { BODY_IDLE_TIMEOUT_MS: '300000' },
      }),
    );
    const calls = 2 * CONSECUTIVE_FAILURES;
    const progress = { chunks: 0, seen: -1, quietLooks: 0 };
    const sent = () => void (progress.chunks += 1);
    const sending = Promise.all(
      Array.from({ length: calls }, () =>
        sendWithoutEnd(`${gateway.url}/v1/proxy/test`, gateway.token, sent),
      ),
    );
    await eventually(async () => expect(await gateway.inFlight()).toBe(calls));
    await eventually(() => {
      progress.quietLooks = progress.chunks === progress.seen ? progress.quietLooks + 1 : 0;
      progress.seen = progress.chunks;
      expect(progress.quietLooks).toBe(QUIET_LOOKS);
    });
    manual.advance(TIMEOUT_MS);
    const statuses = await sending;
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
