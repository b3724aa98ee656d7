import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { ManualClock } from '@gateway/shared/test/manual-clock';
import { watchMemory } from '@gateway/shared/test/memory';
import {
  askedTimes,
  begin,
  get,
  nextTurn,
  OK,
  openPoolWorld,
  upstreamAt,
  type TestAttempt,
} from '../../test/pool-world.ts';

const { startPeer, startUpstream, startPools, close } = openPoolWorld();
afterEach(close);

describe('the connections to an upstream', () => {
  it('are no more than the limit; further requests wait in order', async () => {
    const peer = await startPeer();
    const { pools } = startPools(2);
    const attempts = [1, 2, 3].map(() => begin(pools, peer.upstream, get, 5000));
    await askedTimes(peer, 2);
    expect(pools.inFlight(peer.upstream)).toBe(3);
    peer.asked[0]?.write(OK);
    await askedTimes(peer, 3);
    expect(peer.sockets).toHaveLength(2);
    expect(peer.asked[2]).toBe(peer.asked[0]);
    peer.asked[1]?.write(OK);
    peer.asked[2]?.write(OK);
    const outcomes = await Promise.all(attempts.map((attempt) => attempt.outcome));
    expect(outcomes.map((outcome) => outcome.response?.status)).toEqual([200, 200, 200]);
    expect(pools.inFlight(peer.upstream)).toBe(0);
  });

  it('are not used for an attempt that was cancelled while it waited', async () => {
    const peer = await startPeer();
    const { pools } = startPools(1);
    const first = begin(pools, peer.upstream, get, 5000);
    const given = begin(pools, peer.upstream, get, 5000);
    const last = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    given.cancel();
    expect((await given.outcome).error).toEqual({ name: 'cancelled', sent: false });
    peer.asked[0]?.write(OK);
    await first.outcome;
    await askedTimes(peer, 2);
    peer.asked[1]?.write(OK);
    expect((await last.outcome).response?.status).toBe(200);
  });

  it.each([
    ['was cancelled', (attempt: TestAttempt) => attempt.cancel()],
    ['timed out', (_attempt: TestAttempt, clock: ManualClock) => clock.advance(5000)],
  ])('keep no body of an attempt that %s while it waited', async (_case, end) => {
    const peer = await startPeer();
    const { pools, clock } = startPools(1);
    // It occupies the only connection.
    begin(pools, peer.upstream, get, 1_000_000);
    await askedTimes(peer, 1);
    const memory = watchMemory();
    for (let index = 0; index < 64; index += 1) {
      const body = Buffer.alloc(1024 * 1024, index);
      const attempt = begin(pools, peer.upstream, { ...get, method: 'PUT', body }, 5000);
      end(attempt, clock);
      expect((await attempt.outcome).error?.sent).toBe(false);
    }
    expect(memory.growth().liveBytes).toBeLessThan(16 * 1024 * 1024);
  });

  it('are used in the turn of the event loop after the one in which they were returned, because more bytes may follow', async () => {
    const peer = await startPeer();
    const { pools } = startPools(2);
    const first = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    const second = begin(pools, peer.upstream, get, 5000);
    second.cancel();
    expect((await second.outcome).error?.sent).toBe(false);
    const third = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    peer.asked[1]?.write(OK);
    expect((await third.outcome).response?.status).toBe(200);
    expect(peer.sockets).toHaveLength(1);
  });

  it('are given to a request that waits only after the sockets were read once more', async () => {
    const { nodeTiming } = performance;
    const turn = () => nodeTiming.uvMetricsInfo.loopCount;
    const peer = await startPeer();
    const { pools } = startPools(1);
    const first = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    const returned = turn();
    let written = -1;
    const request = {
      ...get,
      get fields() {
        written = turn();
        return get.fields;
      },
    };
    const second = begin(pools, peer.upstream, request, 5000);
    await askedTimes(peer, 2);
    expect(written).toBeGreaterThan(returned);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
    expect(peer.sockets).toHaveLength(1);
  });

  it('send nothing for a request that lost its idempotency key while it waited, and serve the next', async () => {
    const peer = await startPeer();
    const { pools } = startPools(1);
    let holdsKey = true;
    const first = begin(pools, peer.upstream, get, 5000);
    const second = begin(pools, peer.upstream, { ...get, path: '/pay' }, 5000, {
      holdsKey: () => holdsKey,
    });
    const third = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    holdsKey = false;
    peer.asked[0]?.write(OK);
    await first.outcome;
    expect((await second.outcome).error).toEqual({ name: 'key_lease_ended', sent: false });
    await askedTimes(peer, 2);
    peer.asked[1]?.write(OK);
    expect((await third.outcome).response?.status).toBe(200);
    expect(peer.sockets).toHaveLength(1);
  });

  it('are replaced if they can no longer be used in that turn', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(2);
    const first = begin(pools, peer.upstream, get, 60_000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    const second = begin(pools, peer.upstream, get, 60_000);
    clock.advance(5000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('serve requests in order that began in the turn in which the only one was returned', async () => {
    const peer = await startPeer();
    const { pools } = startPools(1);
    let before = begin(pools, peer.upstream, get, 60_000);
    for (let times = 1; times <= 10; times += 1) {
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      expect((await before.outcome).response?.status).toBe(200);
      before = begin(pools, peer.upstream, get, 60_000);
    }
    await askedTimes(peer, 11);
    expect(peer.sockets).toHaveLength(1);
    peer.asked[10]?.write(OK);
    expect((await before.outcome).response?.status).toBe(200);
  });

  it('are not used again if the upstream responded before it read the whole kept body', async () => {
    let connections = 0;
    const port = await startUpstream((socket) => {
      connections += 1;
      // It does not read the rest of the body.
      socket.once('data', () => socket.pause().write(OK));
    });
    const { pools } = startPools(1);
    const put = { ...get, method: 'PUT', body: Buffer.alloc(32 * 1024 * 1024) };
    for (const request of [put, get]) {
      let status: number | undefined;
      const attempt = begin(pools, upstreamAt(port), request, 5000);
      void attempt.outcome.then(({ response }) => (status = response?.status));
      await eventually(() => expect(status).toBe(200));
      await nextTurn();
    }
    expect(connections).toBe(2);
  });

  it('are closed by unexpected bytes, which are never used as a response', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5);
    const first = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    peer.asked[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen');
    await eventually(() =>
      expect(peer.sockets[0]?.destroyed || peer.sockets[0]?.readableEnded).toBe(true),
    );
    const second = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('close after their requests when no configuration contains the upstream any more', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5);
    const attempt = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    pools.retain(new Set());
    peer.asked[0]?.write(OK);
    expect((await attempt.outcome).response?.status).toBe(200);
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
  });

  it('are dropped after a request that began before the release of its upstream and was retried after it', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { pools, clock } = startPools(5);
    /** Returns a reference to an object that only the pool of the upstream holds. */
    const retryAfterRelease = async () => {
      const peer = await startPeer();
      const tls = { fingerprint: '', ca: undefined, serverName: '', clientCertificate: undefined };
      const upstream = { ...peer.upstream, tls };
      for (const times of [1, 2]) {
        const attempt = begin(pools, upstream, get, 5000);
        await askedTimes(peer, times);
        peer.asked[times - 1]?.write(OK);
        expect((await attempt.outcome).response?.status).toBe(200);
        await nextTurn();
        if (times === 1) pools.release([upstream.key]);
      }
      return new WeakRef(tls);
    };
    const held = await retryAfterRelease();
    await eventually(() => {
      clock.advance(6000);
      collectGarbage();
      expect(held.deref()).toBeUndefined();
    });
  });
});
