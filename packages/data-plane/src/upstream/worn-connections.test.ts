import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { answerOk, startHttp2Upstream, type ArrivedStream } from '../../test/http2-upstream.ts';
import { begin, get, openPoolWorld, upstreamAt } from '../../test/pool-world.ts';
import { MAX_RESETS } from './shared-connections.ts';

const { startPools, close } = openPoolWorld();
const opened = closeAfterEach();
afterEach(close);

async function setUp(maxConnections: number) {
  const waiting: ArrivedStream[] = [];
  const server = opened(await startHttp2Upstream({ answer: (one) => void waiting.push(one) }));
  const upstream = { ...upstreamAt(server.port), protocol: 'http2' as const };
  const { pools } = startPools(maxConnections);
  const arrived = (count: number) =>
    eventually(() => expect(waiting.length).toBe(count), { intervalMs: 1 });
  /** A request that has arrived. */
  const hold = async () => {
    const before = waiting.length;
    const attempt = begin(pools, upstream, get, 60_000);
    await arrived(before + 1);
    return attempt;
  };
  /** Requests that are cancelled as soon as all of them have arrived. */
  const cancel = async (count: number) => {
    const before = waiting.length;
    const attempts = Array.from({ length: count }, () => begin(pools, upstream, get, 60_000));
    await arrived(before + count);
    for (const attempt of attempts) attempt.cancel();
  };
  const release = () => {
    for (const one of waiting) answerOk(one);
  };
  return { server, hold, cancel, release };
}

describe('a connection of HTTP/2 whose callers cancel many requests', () => {
  it('is replaced before Node ends it, so that the requests of other callers last', async () => {
    const { server, hold, cancel, release } = await setUp(64);
    const kept = [await hold()];
    // Node ends a connection after 1000 resets, and allows 33 more in each second.
    for (let round = 0; round < 60; round += 1) {
      await cancel(50);
      if (round % 10 === 0) kept.push(await hold());
    }
    release();
    const outcomes = await Promise.all(kept.map(({ outcome }) => outcome));
    expect(outcomes.map(({ response }) => response?.status)).toEqual(outcomes.map(() => 200));
    const { connections } = server;
    expect(connections).toBeGreaterThan(60 / 4);
    expect(connections).toBeLessThanOrEqual((60 * 50) / MAX_RESETS + 1);
    await eventually(() => expect(server.sessions.size).toBe(1));
  });

  it('takes further requests if as many as the limit only end what they carry', async () => {
    const { server, hold, cancel, release } = await setUp(1);
    const kept = [await hold()];
    for (let round = 0; round < 8; round += 1) {
      await cancel(50);
      kept.push(await hold());
    }
    expect(server.connections).toBe(2);
    release();
    const outcomes = await Promise.all(kept.map(({ outcome }) => outcome));
    expect(outcomes.map(({ response }) => response?.status)).toEqual(outcomes.map(() => 200));
  });

  it('is not replaced for requests that were answered', async () => {
    const { server, hold, release } = await setUp(1);
    for (let request = 0; request < 2 * MAX_RESETS; request += 1) {
      const { outcome } = await hold();
      release();
      expect((await outcome).response?.status).toBe(200);
    }
    expect(server.connections).toBe(1);
  });
});
