import { constants } from 'node:http2';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import {
  answerOk,
  startHttp2Upstream,
  type ArrivedStream,
  type Http2UpstreamOptions,
} from '../../test/http2-upstream.ts';
import {
  begin,
  get,
  nextTurn,
  openPoolWorld,
  TAKES_ALL,
  upstreamAt,
} from '../../test/pool-world.ts';

const { startPools, close } = openPoolWorld();
const opened = closeAfterEach();
afterEach(close);

async function startPeer(options: Http2UpstreamOptions = {}, host?: string) {
  const server = opened(await startHttp2Upstream(options));
  const upstream = { ...upstreamAt(server.port, host), protocol: 'http2' as const };
  return { server, upstream };
}

/** Answers when the test says so. */
function held() {
  const waiting: ArrivedStream[] = [];
  const answer = (one: ArrivedStream) => void waiting.push(one);
  const release = (count = Infinity) => {
    for (const one of waiting.splice(0, count)) answerOk(one);
  };
  return { waiting, answer, release };
}

describe('connections of HTTP/2 to an upstream', () => {
  it('carry 1000 requests at one time on as few of them as the server allows', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer, streams: 100 });
    const { pools } = startPools(64);
    const attempts = Array.from({ length: 1000 }, () => begin(pools, upstream, get, 60_000));
    await eventually(() => expect(waiting.length).toBe(1000));
    expect(server.connections).toBe(10);
    expect(pools.inFlight(upstream)).toBe(1000);
    release();
    const outcomes = await Promise.all(attempts.map(({ outcome }) => outcome));
    expect(outcomes.filter(({ response }) => response?.status === 200)).toHaveLength(1000);
    expect(pools.inFlight(upstream)).toBe(0);
  });

  it('are no more than the limit; further requests wait in order for a stream', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer, streams: 3 });
    const { pools } = startPools(2);
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    // One shows how many streams a connection carries.
    const first = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(1));
    release();
    await first.outcome;
    const attempts = paths.map((path) => begin(pools, upstream, { ...get, path }, 60_000));
    for (let served = 0; served < paths.length; served += 6) {
      const now = Math.min(6, paths.length - served);
      await eventually(() => expect(waiting.length).toBe(now));
      release();
    }
    for (const { outcome } of attempts) expect((await outcome).response?.status).toBe(200);
    const order = server.arrived.slice(1).map(({ headers }) => headers[':path']);
    const waves = Array.from({ length: 4 }, (_, wave) =>
      order
        .slice(wave * 6, wave * 6 + 6)
        .toSorted((a, b) => Number(a?.slice(1)) - Number(b?.slice(1))),
    );
    expect(waves.flat()).toEqual(paths);
    expect(server.connections).toBe(2);
  });

  it('are filled one before the next', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer, streams: 4 });
    const { pools } = startPools(8);
    for (let count = 1; count <= 6; count += 1) {
      begin(pools, upstream, get, 60_000);
      await eventually(() => expect(waiting.length).toBe(count));
    }
    expect(server.arrived.map(({ connection }) => connection)).toEqual([1, 1, 1, 1, 2, 2]);
    release(1);
    await eventually(() => expect(pools.inFlight(upstream)).toBe(5));
    begin(pools, upstream, get, 60_000);
    await eventually(() => expect(server.arrived.at(-1)?.connection).toBe(1));
  });

  it('refuse at max_pending only what no stream is free for', async () => {
    const { answer, waiting } = held();
    const { upstream } = await startPeer({ answer, streams: 2 });
    const { pools } = startPools(1);
    const limits = {
      maxInFlight: undefined,
      maxConnections: undefined,
      maxPending: 0,
      adaptive: false,
    };
    const limited = { ...upstream, limits };
    begin(pools, limited, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(1));
    begin(pools, limited, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(2));
    const third = begin(pools, limited, get, 60_000);
    expect((await third.outcome).error).toEqual({ name: 'max_pending', sent: false });
  });

  it('end what they carry when they retire, while others take the new requests', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer }, 'localhost');
    const { pools, clock } = startPools(1);
    const before = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(1));
    // The age of connections in this test is 10 s.
    clock.advance(10_000);
    const after = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(2));
    expect(server.arrived.map(({ connection }) => connection)).toEqual([1, 2]);
    release();
    expect((await before.outcome).response?.status).toBe(200);
    expect((await after.outcome).response?.status).toBe(200);
    await eventually(() => expect(server.sessions.size).toBe(1));
  });

  it('close after their requests when no configuration contains the upstream any more', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer });
    const { pools } = startPools(5);
    const attempt = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(1));
    pools.retain(new Set());
    release();
    expect((await attempt.outcome).response?.status).toBe(200);
    await eventually(() => expect(server.sessions.size).toBe(0));
  });

  it('let a slow reader of one response hold no other', async () => {
    const size = 4 * 1024 * 1024;
    const answer = (one: ArrivedStream) => {
      if (one.headers[':path'] === '/large') {
        one.stream.respond({ ':status': 200 });
        one.stream.end(Buffer.alloc(size));
      } else answerOk(one);
    };
    const { server, upstream } = await startPeer({ answer });
    const { pools } = startPools(1);
    let received = 0;
    const sink = {
      ...TAKES_ALL,
      data: (bytes: { readonly length: number }) => void (received += bytes.length),
    };
    const large = begin(pools, upstream, { ...get, path: '/large' }, 60_000, { sink });
    const { response } = await large.outcome;
    response?.pause();
    await nextTurn();
    const seen = received;
    for (let count = 0; count < 50; count += 1) {
      const other = begin(pools, upstream, get, 60_000);
      expect((await other.outcome).response?.status).toBe(200);
    }
    expect(received).toBe(seen);
    response?.resume();
    await eventually(() => expect(received).toBe(size));
    expect(server.connections).toBe(1);
  });

  it('end with the exception of one handler only its request', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer });
    const { pools, internalErrors } = startPools(1);
    const sink = {
      ...TAKES_ALL,
      data: () => {
        throw new Error('of this handler');
      },
    };
    const failing = begin(pools, upstream, get, 60_000, { sink });
    const sibling = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(2));
    release(1);
    await failing.outcome;
    await eventually(() => expect(internalErrors).toEqual([new Error('of this handler')]));
    release();
    expect((await sibling.outcome).response?.status).toBe(200);
    expect(server.connections).toBe(1);
  });

  it('are never shared with a request that authenticates its connection', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer });
    const { pools } = startPools(4);
    const plain = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(1));
    const fields = ['authorization', 'NTLM TlRMTVNTUAAB'];
    const bound = [1, 2].map(() => begin(pools, upstream, { ...get, fields }, 60_000));
    await eventually(() => expect(waiting.length).toBe(3));
    const others = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(waiting.length).toBe(4));
    expect(server.arrived.map(({ connection }) => connection)).toEqual([1, 2, 3, 1]);
    release();
    for (const { outcome } of [plain, others, ...bound]) {
      expect((await outcome).response?.status).toBe(200);
    }
    await eventually(() => expect(server.sessions.size).toBe(1));
  });
});

describe('an attempt over HTTP/2', () => {
  it.each([
    ['refused_stream', constants.NGHTTP2_REFUSED_STREAM, false],
    ['reset', constants.NGHTTP2_INTERNAL_ERROR, true],
  ] as const)('that the upstream resets ends as %s', async (name, code, sent) => {
    const { upstream } = await startPeer({ answer: ({ stream }) => stream.close(code) });
    const { pools } = startPools(1);
    const attempt = begin(pools, upstream, get, 60_000);
    expect((await attempt.outcome).error).toEqual({ name, sent });
  });

  it('ends as goaway if the upstream did not look at it, and others do not end', async () => {
    const { answer, release, waiting } = held();
    const { server, upstream } = await startPeer({ answer });
    const { pools } = startPools(1);
    const attempts = Array.from({ length: 100 }, () => begin(pools, upstream, get, 60_000));
    await eventually(() => expect(waiting.length).toBe(100));
    const last = waiting[49]?.stream.id;
    for (const session of server.sessions) session.goaway(0, last);
    const lost = await Promise.all(attempts.slice(50).map(({ outcome }) => outcome));
    expect(lost.map(({ error }) => error)).toEqual(
      lost.map(() => ({ name: 'goaway', sent: false })),
    );
    // It may have one connection only; that which is ending does not count.
    const next = begin(pools, upstream, get, 60_000);
    await eventually(() => expect(server.arrived.length).toBe(101));
    release();
    const kept = await Promise.all(attempts.slice(0, 50).map(({ outcome }) => outcome));
    expect(kept.map(({ response }) => response?.status)).toEqual(kept.map(() => 200));
    expect((await next.outcome).response?.status).toBe(200);
  });

  it('ends as reset with all others if the connection is lost', async () => {
    const { answer, waiting } = held();
    const { server, upstream } = await startPeer({ answer });
    const { pools } = startPools(1);
    const attempts = [1, 2, 3].map(() => begin(pools, upstream, get, 60_000));
    await eventually(() => expect(waiting.length).toBe(3));
    for (const session of server.sessions) session.socket.destroy();
    for (const { outcome } of attempts) {
      expect((await outcome).error).toEqual({ name: 'reset', sent: true });
    }
    expect(pools.inFlight(upstream)).toBe(0);
  });
});
