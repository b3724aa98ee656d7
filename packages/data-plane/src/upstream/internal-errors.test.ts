import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Http1ClientConnection } from '@gateway/http/http1/client/connection';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { Clock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import {
  askedTimes,
  begin,
  get,
  nextTurn,
  OK,
  openPoolWorld,
  TAKES_ALL,
  type TestAttempt,
} from '../../test/pool-world.ts';
import { Attempt } from './attempt.ts';
import { ConnectionPool } from './connection-pool.ts';

const { startPeer, startPools, close } = openPoolWorld();

afterEach(async () => {
  jest.restoreAllMocks();
  await close();
});

const BUG = new Error('a bug');

function fails(): never {
  throw BUG;
}

const throwOnce = (part: object, method: string) => {
  jest.spyOn(part as Record<string, () => unknown>, method).mockImplementationOnce(fails);
};

const PARTIAL = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello';

describe('an internal error of an upstream connection ends it and its attempt, and is reported once', () => {
  it('when the head of a response does not arrive in time', async () => {
    const peer = await startPeer();
    const { pools, clock, internalErrors } = startPools(1);
    const attempt = begin(pools, peer.upstream, get, 500);
    await askedTimes(peer, 1);
    throwOnce(Http1ClientConnection.prototype, 'destroy');
    clock.advance(500);
    await eventually(() => expect(internalErrors).toEqual([BUG]));
    expect((await attempt.outcome).error).toEqual({ name: 'attempt_timeout', sent: true });
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
    expect(pools.inFlight(peer.upstream)).toBe(0);
  });

  it('when the head does not arrive in time on a queue', async () => {
    const peer = await startPeer();
    const { pools, clock, internalErrors } = startPools(1);
    begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    const waiting = begin(pools, peer.upstream, get, 500);
    throwOnce(ConnectionPool.prototype, 'withdraw');
    clock.advance(500);
    expect((await waiting.outcome).error).toEqual({ name: 'max_connections', sent: false });
    expect(internalErrors).toEqual([BUG]);
    expect(pools.inFlight(peer.upstream)).toBe(1);
  });

  it('when a body makes no progress', async () => {
    const peer = await startPeer();
    const { pools, clock, internalErrors } = startPools(1);
    let broken = 0;
    const sink = { ...TAKES_ALL, broken: () => void (broken += 1) };
    const attempt = begin(pools, peer.upstream, get, 5000, { sink });
    await askedTimes(peer, 1);
    peer.asked[0]?.write(PARTIAL);
    await attempt.outcome;
    throwOnce(Attempt.prototype, 'cancel');
    clock.advance(1000);
    expect(internalErrors).toEqual([BUG]);
    expect(broken).toBe(1);
    await eventually(() => expect(peer.sockets[0]?.readableEnded).toBe(true));
    expect(pools.inFlight(peer.upstream)).toBe(0);
  });

  it('when the end of a response is passed on', async () => {
    const peer = await startPeer();
    const { pools, internalErrors } = startPools(1);
    let broken = 0;
    const sink = {
      ...TAKES_ALL,
      data: (_bytes: BodyBytes, last: boolean) => (last ? fails() : undefined),
      broken: () => void (broken += 1),
    };
    const attempt = begin(pools, peer.upstream, get, 5000, { sink });
    await askedTimes(peer, 1);
    peer.asked[0]?.write(PARTIAL);
    await attempt.outcome;
    peer.asked[0]?.write('world');
    await eventually(() => expect(internalErrors).toEqual([BUG]));
    expect(broken).toBe(1);
    expect(pools.inFlight(peer.upstream)).toBe(0);
  });

  it('when a request that has waited starts', async () => {
    const peer = await startPeer();
    const { pools, internalErrors } = startPools(1);
    const first = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    const second = begin(pools, peer.upstream, get, 5000);
    const third = begin(pools, peer.upstream, get, 5000);
    throwOnce(Attempt.prototype, 'start');
    peer.asked[0]?.write(OK);
    await first.outcome;
    expect((await second.outcome).error).toEqual({ name: 'internal_error', sent: false });
    expect(internalErrors).toEqual([BUG]);
    await askedTimes(peer, 2);
    peer.asked[1]?.write(OK);
    expect((await third.outcome).response?.status).toBe(200);
  });

  it('when an idle connection is checked, and the others are still checked', async () => {
    const peer = await startPeer();
    const { pools, clock, internalErrors } = startPools(2);
    const attempts = [
      begin(pools, peer.upstream, get, 5000),
      begin(pools, peer.upstream, get, 5000),
    ];
    await askedTimes(peer, 2);
    for (const socket of peer.asked) socket.write(OK);
    for (const attempt of attempts) await attempt.outcome;
    await nextTurn();
    jest.spyOn(Http1ClientConnection.prototype, 'free', 'get').mockImplementationOnce(fails);
    clock.advance(1000);
    await eventually(() => expect(internalErrors).toEqual([BUG]));
    await eventually(() =>
      expect(peer.sockets.filter((socket) => socket.readableEnded)).toHaveLength(1),
    );
    clock.advance(4000);
    await eventually(() =>
      expect(peer.sockets.filter((socket) => socket.readableEnded)).toHaveLength(2),
    );
    expect(internalErrors).toEqual([BUG]);
  });

  it.each<[string, string, (clock: Clock) => void, (attempt: TestAttempt) => void]>([
    [
      'when it opens',
      'internal_error',
      (clock) => throwOnce(clock, 'monotonicMs'),
      () => undefined,
    ],
    [
      'when it is given to the pool',
      'cancelled',
      () => throwOnce(ConnectionPool.prototype, 'freed'),
      (attempt) => attempt.cancel(),
    ],
  ])('%s, and its place in the pool is given back', async (_when, name, breakPart, begun) => {
    const peer = await startPeer();
    const { pools, clock, internalErrors } = startPools(1);
    breakPart(clock);
    const attempt = begin(pools, peer.upstream, get, 5000);
    begun(attempt);
    expect((await attempt.outcome).error?.name).toBe(name);
    await eventually(() => expect(internalErrors).toEqual([BUG]));
    const next = begin(pools, peer.upstream, get, 5000);
    await askedTimes(peer, 1);
    peer.asked[0]?.write(OK);
    expect((await next.outcome).response?.status).toBe(200);
  });

  it('before it opens, and the next request does not wait for it', async () => {
    const peer = await startPeer();
    const { pools, internalErrors } = startPools(1);
    const clientCertificate = { cert: 'not PEM', key: 'not PEM' };
    const tls = { fingerprint: 'bad', ca: undefined, serverName: undefined, clientCertificate };
    for (let times = 1; times <= 2; times += 1) {
      const attempt = begin(pools, { ...peer.upstream, tls }, get, 5000);
      expect((await attempt.outcome).error).toEqual({ name: 'internal_error', sent: false });
      expect(internalErrors).toHaveLength(times);
    }
    expect(pools.inFlight(peer.upstream)).toBe(0);
  });
});
