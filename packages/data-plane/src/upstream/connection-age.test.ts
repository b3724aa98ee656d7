import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  askedTimes,
  begin,
  get,
  nextTurn,
  OK,
  openPoolWorld,
  upstreamAt,
} from '../../test/pool-world.ts';

const { startPeer, startPools, close } = openPoolWorld();
afterEach(close);

describe('the age of connections to an upstream', () => {
  it('ends if they were idle for too long; until then they are used again', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    for (const times of [1, 2]) {
      const attempt = begin(pools, peer.upstream, get, 5000);
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      await attempt.outcome;
      await nextTurn();
    }
    expect(peer.sockets).toHaveLength(1);
    clock.advance(6000);
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
  });

  it('ends if they were idle for too long, also if an exchange waits for the only one', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(1);
    const first = begin(pools, peer.upstream, get, 60_000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    await first.outcome;
    // It waits for the only connection, which has become too old by then.
    const second = begin(pools, peer.upstream, get, 60_000);
    clock.advance(10_000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    expect((await second.outcome).response?.status).toBe(200);
  });

  it('ends sooner if the upstream sends a shorter keep-alive timeout', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    const first = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK.replace('\r\n', '\r\nKeep-Alive: timeout=2\r\n'));
    await first.outcome;
    await nextTurn();
    clock.advance(1000);
    const second = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 2);
    expect(peer.sockets).toHaveLength(2);
    peer.asked[1]?.write(OK);
    await second.outcome;
  });

  it.each([
    ['localhost', 2],
    ['127.0.0.1', 1],
  ])(
    'is limited for a name that may get other addresses, also while they are busy: to %s, %d in all',
    async (host, sockets) => {
      const peer = await startPeer();
      const { pools, clock } = startPools(5);
      const upstream = upstreamAt(Number(peer.upstream.host.split(':')[1]), host);
      for (let times = 1; times <= 5; times += 1) {
        const attempt = begin(pools, upstream, get, 60_000);
        await askedTimes(peer, times);
        // It is never idle for long. It is too old at the fourth response, which still arrives.
        clock.advance(2500);
        peer.asked[times - 1]?.write(OK);
        expect((await attempt.outcome).response?.status).toBe(200);
        await nextTurn();
      }
      expect(peer.sockets).toHaveLength(sockets);
    },
  );

  it('is limited for a name also while they are idle', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    const upstream = upstreamAt(Number(peer.upstream.host.split(':')[1]), 'localhost');
    for (let times = 1; times <= 4; times += 1) {
      const attempt = begin(pools, upstream, get, 60_000);
      await askedTimes(peer, times);
      peer.asked[times - 1]?.write(OK);
      await attempt.outcome;
      await nextTurn();
      // It is never idle for long, but too old before the fourth request.
      clock.advance(3400);
    }
    expect(peer.sockets).toHaveLength(2);
  });
});
