import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closedPort } from '@gateway/shared/test/upstream';
import { askedTimes, begin, get, openPoolWorld, upstreamAt } from '../../test/pool-world.ts';

const { startPeer, startPools, close } = openPoolWorld();
afterEach(close);

describe('an attempt', () => {
  it('reports that nothing was sent if there was no connection', async () => {
    const { pools } = startPools(5);
    const attempt = begin(pools, upstreamAt(await closedPort()), get, 5000);
    expect((await attempt.outcome).error).toEqual({ name: 'connect_refused', sent: false });
  });

  it('never connects to a denied address', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5, ['127.0.0.0/8']);
    const attempt = begin(pools, peer.upstream, get, 5000);
    expect((await attempt.outcome).error).toEqual({ name: 'address_refused', sent: false });
    expect(peer.sockets).toHaveLength(0);
  });

  it('ends at its timeout, and reports that it was sent', async () => {
    const peer = await startPeer();
    const { pools, clock } = startPools(5);
    const attempt = begin(pools, peer.upstream, get, 500);
    await askedTimes(peer, 1);
    clock.advance(500);
    expect((await attempt.outcome).error).toEqual({ name: 'attempt_timeout', sent: true });
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
  });

  it('fails before it is written if a field contains a line break', async () => {
    const peer = await startPeer();
    const { pools } = startPools(5);
    const request = { ...get, fields: ['x', 'a\r\nInjected: 1'] };
    const attempt = begin(pools, peer.upstream, request, 5000);
    expect((await attempt.outcome).error?.name).toBe('unsendable');
    expect(peer.asked).toHaveLength(0);
  });
});
