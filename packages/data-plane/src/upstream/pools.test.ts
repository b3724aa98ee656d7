import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { ManualClock } from '@gateway/shared/test/manual-clock';
import { watchMemory } from '@gateway/shared/test/memory';
import type { Attempt } from './port.ts';
import { askedTimes, get, OK, openPoolWorld, upstreamAt } from '../../test/pool-world.ts';

const { startPeer, startUpstream, startPools, close } = openPoolWorld();
afterEach(close);

/** Waits until the event loop has turned: the first is called at the end of this turn. */
async function turnOver(): Promise<void> {
  for (let times = 0; times < 2; times += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('the connections to an upstream', () => {
  it('are no more than the bound; what finds none waits its turn', async () => {
    const peer = await startPeer();
    const { pools } = startPools(2);
    const attempts = [1, 2, 3].map(() => pools.begin(peer.upstream, get, 5000));
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

  it('are not spent on an attempt that was given up while it waited', async () => {
    const peer = await startPeer();
    const { pools } = startPools(1);
    const first = pools.begin(peer.upstream, get, 5000);
    const given = pools.begin(peer.upstream, get, 5000);
    const last = pools.begin(peer.upstream, get, 5000);
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
    ['was cancelled', (attempt: Attempt) => attempt.cancel()],
    ['timed out', (_attempt: Attempt, clock: ManualClock) => clock.advance(5000)],
  ])('keep no body of an attempt that %s while it waited', async (_case, end) => {
    const peer = await startPeer();
    const { pools, clock } = startPools(1);
    // It holds the only connection for as long as it likes.
    pools.begin(peer.upstream, get, 1_000_000);
    await askedTimes(peer, 1);
    const memory = watchMemory();
    for (let index = 0; index < 64; index += 1) {
      const body = Buffer.alloc(1024 * 1024, index);
      const attempt = pools.begin(peer.upstream, { ...get, method: 'PUT', body }, 5000);
      end(attempt, clock);
      expect((await attempt.outcome).error?.sent).toBe(false);
    }
    expect(memory.growth().liveBytes).toBeLessThan(16 * 1024 * 1024);
  });

  it('are used again, and closed once they have rested for too long', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    for (const times of [1, 2]) {
      const attempt = pools.begin(peer.upstream, get, 5000);
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      await attempt.outcome;
      await turnOver();
    }
    expect(peer.sockets).toHaveLength(1);
    clock.advance(6000);
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
  });

  it('are not used in the turn of the event loop that gave them back, as more bytes may follow', async () => {
    const peer = await startPeer();
    const { pools } = startPools(2);
    const first = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    const second = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    // Another was opened for it, as for all that find none.
    await eventually(() => expect(peer.sockets.length).toBe(2));
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('serve in order those that began in the turn that gave back the only one', async () => {
    const peer = await startPeer();
    const { pools } = startPools(1);
    let before = pools.begin(peer.upstream, get, 60_000);
    for (let times = 1; times <= 10; times += 1) {
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      expect((await before.outcome).response?.status).toBe(200);
      before = pools.begin(peer.upstream, get, 60_000);
    }
    await askedTimes(peer, 11);
    expect(peer.sockets).toHaveLength(1);
    peer.asked[10]?.write(OK);
    expect((await before.outcome).response?.status).toBe(200);
  });

  it('that have rested for too long make room for a new one, for whoever waits', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(1);
    const first = pools.begin(peer.upstream, get, 60_000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    // It waits for the only one, which is too old when its turn comes.
    const second = pools.begin(peer.upstream, get, 60_000);
    clock.advance(10_000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('are not used again where the upstream answered before it took the whole of a kept body', async () => {
    let connections = 0;
    const port = await startUpstream((socket) => {
      connections += 1;
      // It reads no more of it.
      socket.once('data', () => socket.pause().write(OK));
    });
    const { pools } = startPools(1);
    const put = { ...get, method: 'PUT', body: Buffer.alloc(32 * 1024 * 1024) };
    for (const request of [put, get]) {
      let status: number | undefined;
      const attempt = pools.begin(upstreamAt(port), request, 5000);
      void attempt.outcome.then(({ response }) => (status = response?.status));
      await eventually(() => expect(status).toBe(200));
      await turnOver();
    }
    expect(connections).toBe(2);
  });

  it('rest for a shorter time where the upstream says so', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    const first = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK.replace('\r\n', '\r\nKeep-Alive: timeout=2\r\n'));
    await first.outcome;
    await turnOver();
    clock.advance(1000);
    const second = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    await second.outcome;
  });

  it.each([
    ['localhost', 2],
    ['127.0.0.1', 1],
  ])(
    'to %s, always in use, become %d when the first is old: a name may have moved',
    async (host, sockets) => {
      const peer = await startPeer();
      const { pools, clock } = startPools(5);
      const upstream = upstreamAt(Number(peer.upstream.host.split(':')[1]), host);
      for (let times = 1; times <= 5; times += 1) {
        const attempt = pools.begin(upstream, get, 60_000);
        await askedTimes(peer, times);
        // Never idle for long, and old enough at the fourth answer, which it brings all the same.
        clock.advance(2500);
        peer.asked[times - 1]?.write(OK);
        expect((await attempt.outcome).response?.status).toBe(200);
        await turnOver();
      }
      expect(peer.sockets).toHaveLength(sockets);
    },
  );

  it('to a name are not used once they have become old at rest', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    const upstream = upstreamAt(Number(peer.upstream.host.split(':')[1]), 'localhost');
    for (let times = 1; times <= 4; times += 1) {
      const attempt = pools.begin(upstream, get, 60_000);
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      await attempt.outcome;
      await turnOver();
      // Never at rest for long, yet old before the fourth.
      clock.advance(3400);
    }
    expect(peer.sockets).toHaveLength(2);
  });

  it('are cut by bytes that nobody asked for, which never become an answer', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5);
    const first = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    peer.asked[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen');
    await eventually(() =>
      expect(peer.sockets[0]?.destroyed || peer.sockets[0]?.readableEnded).toBe(true),
    );
    const second = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('end with what is in flight when no configuration names the upstream any more', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5);
    const attempt = pools.begin(peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    pools.retain(new Set());
    peer.asked[0]?.write(OK);
    expect((await attempt.outcome).response?.status).toBe(200);
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
  });

  it('are forgotten after a request that began before its upstream was released and retried afterwards', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { pools, clock } = startPools(5);
    /** Gives what the pool of the upstream holds, and nothing else. */
    const retryAfterRelease = async () => {
      const peer = await startPeer();
      const tls = { fingerprint: '', ca: undefined, serverName: '', clientCertificate: undefined };
      const upstream = { ...peer.upstream, tls };
      for (const times of [1, 2]) {
        const attempt = pools.begin(upstream, get, 5000);
        await askedTimes(peer, times);
        peer.asked[times - 1]?.write(OK);
        expect((await attempt.outcome).response?.status).toBe(200);
        await turnOver();
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
