import { describe, expect, it } from '@jest/globals';
import { get, post, PREFACE, reset, settings } from '../../test/http2-frames.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';

const world = serveHttp2EachTest();

const STREAMS = LIMITS.maxConcurrentStreams;
const CONNECTIONS = 10;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function connect() {
  const connection = world.accept((done) => {
    done();
  });
  connection.receive(Buffer.concat([PREFACE, settings()]));
  return connection;
}

const requests = Array.from({ length: STREAMS }, (_none, index) => get(2 * index + 1));

/** Connections that each bring as many requests as they may, all within this turn. */
function crowd() {
  world.onExchange = () => undefined;
  return Array.from({ length: CONNECTIONS }, () => {
    const connection = connect();
    connection.receive(Buffer.concat(requests));
    return connection;
  });
}

describe('requests that arrive at once', () => {
  it('are handled over turns of the event loop, until all are', async () => {
    crowd();
    const counts: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      counts.push(world.seen.length);
      await nextTurn();
    }
    expect(counts).toEqual([64, 128, 192, 256, 320, 320, 320, 320]);
  });

  it('wait for a few of each other connection, however many those have', async () => {
    crowd();
    connect().receive(post());
    for (let turn = 0; turn < 8; turn += 1) await nextTurn();
    const methods = world.seen.map(({ exchange }) => exchange.head.method);
    expect(methods).toHaveLength(CONNECTIONS * STREAMS + 1);
    // Two connections had their turn at once; the eight others wait.
    expect(methods.indexOf('POST')).toBe(2 * STREAMS + 8 * 8);
  });

  it('reach no handler if they are reset, or their connection is closed, before their turn', async () => {
    const [, , third, fourth] = crowd();
    third?.receive(Buffer.concat(Array.from(requests, (_none, index) => reset(8, 2 * index + 1))));
    fourth?.socket.destroy();
    for (let turn = 0; turn < 8; turn += 1) await nextTurn();
    expect(world.seen).toHaveLength((CONNECTIONS - 2) * STREAMS);
  });

  it('are handled at once if they are few', () => {
    world.onExchange = () => undefined;
    connect().receive(Buffer.concat(requests));
    expect(world.seen).toHaveLength(STREAMS);
  });
});
