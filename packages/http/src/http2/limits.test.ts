import { connect } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import {
  data,
  fieldBlock,
  FrameClient,
  frame,
  get,
  HEAD,
  integer,
  literal,
  post,
  PREFACE,
  pseudo,
  reset,
  settings,
  uint32,
  windowUpdate,
} from '../../test/http2-frames.ts';
import type { RequestHead } from '../message/request-head.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import { ALLOWED, Ledger, type FrameKind } from './limits.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';
import { Session } from './session.ts';
import { STATE, type StreamState } from './stream-state.ts';
import { Stream, type StreamConnection } from './stream.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });

const KINDS = Object.keys(ALLOWED) as FrameKind[];

describe('the ledger of a connection', () => {
  it.each(KINDS)('allows so many frames at once, and so many in each second: %s', (kind) => {
    const time = manualClock();
    const ledger = new Ledger(time, 10);
    const { burst, perSecond } = ALLOWED[kind];
    const use = () => {
      let count = 0;
      while (ledger.allows(kind)) count += 1;
      return count;
    };
    expect(use()).toBe(burst);
    time.advance(3000);
    expect(use()).toBe(3 * perSecond);
    time.advance(1e9);
    expect(use()).toBe(burst);
    // Another kind has its own allowance.
    for (const other of KINDS) expect(ledger.allows(other)).toBe(other !== kind);
  });

  it.each([
    ['windowUpdate', 2],
    ['ping', 1],
    ['closedStream', 2],
  ] as const)(
    'allows further frames for each frame of DATA that was sent: %s, %i',
    (kind, more) => {
      const ledger = new Ledger(manualClock(), 10);
      for (let frames = 0; frames < 10_000; frames += 1) {
        for (let used = 0; used < more; used += 1) expect(ledger.allows(kind)).toBe(true);
        ledger.sentData(1);
      }
      for (let left = ALLOWED[kind].burst; left > 0; left -= 1) ledger.allows(kind);
      expect(ledger.allows(kind)).toBe(false);
    },
  );

  it('allows so many resets in a minute', () => {
    const time = manualClock();
    const ledger = new Ledger(time, 3);
    const results = Array.from({ length: 4 }, () => ledger.allowsReset());
    time.advance(60_000);
    expect([...results, ledger.allowsReset()]).toEqual([true, true, true, false, true]);
  });
});

/** Sends frames until the connection ends. Returns how many. */
async function flood(client: FrameClient, next: (round: number) => Buffer): Promise<number> {
  let sent = 0;
  await eventually(
    () => {
      for (let round = 0; round < 200 && client.socket.writableLength === 0; round += 1) {
        if (client.isClosed || sent > 100_000) break;
        client.send(next(sent));
        sent += 1;
      }
      expect(client.isClosed).toBe(true);
    },
    { intervalMs: 1 },
  );
  return sent;
}

const bomb = literal(0x40, 'x-bomb', 'y'.repeat(3900));

describe('a caller that keeps the process busy', () => {
  it.each<[string, Buffer[], (round: number) => Buffer]>([
    ['pings', [], () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['replies to pings', [], () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
    ['settings', [], () => settings()],
    ['priorities', [], () => frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['unknown frames', [], () => frame(0xfa, 0, 0, Buffer.alloc(1000))],
    ['window updates of the connection', [], () => windowUpdate(1, 0)],
    ['window updates of a stream', [post()], () => windowUpdate(1)],
    ['empty DATA', [post()], () => data('')],
    ['DATA of one byte', [post()], () => data('x')],
    ['DATA of padding', [post()], () => frame(FRAME.data, FLAG.padded, 1, Buffer.alloc(201, 200))],
    ['frames of a closed stream', [post(), reset()], () => windowUpdate(1)],
    ['resets of a stream that was reset', [post(), windowUpdate(0)], () => reset()],
    ['trailers of a stream that was reset', [post(), windowUpdate(0)], () => get()],
    ['empty DATA of a stream that was reset', [post(), windowUpdate(0)], () => data('')],
    ['streams above their number', [SILENT()], (round) => post(2 * round + 1)],
    ['fields that are too large', [], (round) => get(2 * round + 1, [['x', 'y'.repeat(5000)]])],
    ['empty CONTINUATION', [frame(FRAME.headers, 0, 1)], () => frame(FRAME.continuation, 0, 1)],
    [
      'CONTINUATION without an end',
      [frame(FRAME.headers, 0, 1)],
      () => frame(FRAME.continuation, 0, 1, Buffer.alloc(1000, 0x82)),
    ],
    [
      'a field of the table again and again',
      [frame(FRAME.headers, HEAD, 1, Buffer.concat([fieldBlock(pseudo()), bomb]))],
      (round) =>
        frame(
          FRAME.headers,
          HEAD,
          2 * round + 3,
          Buffer.concat([fieldBlock(pseudo()), Buffer.alloc(10_000, 0xbe)]),
        ),
    ],
    [
      'many fields without a name',
      [],
      (round) => frame(FRAME.headers, HEAD, 2 * round + 1, Buffer.alloc(3000, 0)),
    ],
  ])('is asked to calm down: %s', async (_kind, before, next) => {
    const other = await world.connect();
    const client = await world.connect();
    client.send(...before);
    await flood(client, next);
    const [goAway] = client.of(FRAME.goAway);
    // The kernel drops what was sent if more arrives after the end.
    if (goAway !== undefined) expect(goAway.payload.readUInt32BE(4)).toBe(ERROR.enhanceYourCalm);
    expect(world.ended).toEqual(['HTTP2_FLOOD']);
    other.send(get(201));
    await other.ended(201);
  });

  it('with requests that are refused is asked to calm down, also if it waits for each response', async () => {
    const client = await world.connect();
    for (let batch = 0; batch < 11 && !client.isClosed; batch += 1) {
      const ids = Array.from({ length: 20 }, (_none, index) => 40 * batch + 2 * index + 1);
      client.send(...ids.map((id) => get(id, [['x', 'y'.repeat(5000)]])));
      await client.settled();
    }
    await eventually(() => expect(world.ended).toEqual(['HTTP2_FLOOD']));
    expect(world.refused).toHaveLength(ALLOWED.refused.burst + 1);
  });

  it.each<[string, (stream: number) => Buffer[]]>([
    ['resets of its own', (stream) => [post(stream), reset(8, stream)]],
    ['resets that it causes', (stream) => [post(stream), windowUpdate(0, stream)]],
    ['malformed requests', (stream) => [get(stream, [['x', 'y ']])]],
  ])('by %s is asked to calm down, and reaches no handler', async (_kind, frames) => {
    const client = await world.connect();
    await flood(client, (round) => Buffer.concat(frames(2 * round + 1)));
    expect(world.ended).toEqual(['HTTP2_RESETS']);
    expect(world.seen).toEqual([]);
  });

  it('and does not read the replies is cut', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 2 ** 30]);
    client.send(windowUpdate(2 ** 30, 0));
    // One response fills the socket; the other stream is not idle meanwhile.
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'POST') return;
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(16_000_000), true);
    };
    client.socket.pause();
    client.send(get(), post(3));
    await eventually(() => expect(world.seen).toHaveLength(2));
    // Pings are answered before time goes on and the next ones are sent. Fewer than are allowed come at a time, so only
    // what waits can be the reason.
    const replies = jest.spyOn(Session.prototype, 'reply');
    const pings = Array.from({ length: 100 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
    for (let sent = 100; world.ended.length === 0; sent += 100) {
      client.send(...pings);
      await eventually(
        () => {
          const isHandled = world.ended.length > 0 || replies.mock.calls.length >= sent;
          expect(isHandled).toBe(true);
        },
        { intervalMs: 0 },
      );
      clock.advance(10_000);
    }
    replies.mockRestore();
    expect(world.ended).toEqual(['HTTP2_UNREAD']);
  });
});

/** A window of 0, so that no response ends. */
function SILENT(): Buffer {
  return Buffer.concat([
    settings([SETTING.initialWindowSize, 0]),
    ...Array.from({ length: LIMITS.maxConcurrentStreams }, (_none, index) => post(2 * index + 1)),
  ]);
}

describe('a caller that sends a body in small parts', () => {
  it('is served', async () => {
    const client = await world.connect();
    client.send(post());
    for (let part = 0; part < 5000; part += 1) client.send(data('twelve bytes'));
    client.send(data('', FLAG.endStream));
    expect(await client.body()).toHaveLength(60_000);
  });
});

describe('a caller that has not read yet that its request was refused', () => {
  it('may send what the windows allow, window updates of responses it has read, and resets', async () => {
    world.onExchange = (exchange) => {
      exchange.body.discard();
      exchange.respond(401, '', [], false);
      exchange.send('x', true);
    };
    const client = await world.connect();
    for (let stream = 1; stream < 800; stream += 2) {
      client.send(post(stream));
      await client.frame(FRAME.rstStream, stream);
      const late = Array.from({ length: 20 }, () => data('x'.repeat(500), 0, stream));
      client.send(...late, windowUpdate(1, stream), reset(8, stream));
    }
    await client.settled();
    expect(world.ended).toEqual([]);
    expect(client.isClosed).toBe(false);
  });
});

describe('a header block in many frames', () => {
  const block = (continuations: number) => [
    frame(FRAME.headers, FLAG.endStream, 1, fieldBlock(pseudo())),
    ...Array.from({ length: continuations - 1 }, () => frame(FRAME.continuation, 0, 1)),
    frame(FRAME.continuation, FLAG.endHeaders, 1),
  ];

  it('is read, and its connection is not late afterwards', async () => {
    const client = await acknowledged();
    client.send(...block(64));
    await client.ended();
    clock.advance(20_000);
    await client.settled();
    expect(world.ended).toEqual([]);
  });

  it('is refused if it has more', async () => {
    const client = await acknowledged();
    client.send(...block(65));
    expect(await client.goneWith()).toBe(ERROR.enhanceYourCalm);
    expect([world.ended, world.seen]).toEqual([['HTTP2_FLOOD'], []]);
  });
});

describe('a caller that reads in small steps', () => {
  it('may enlarge its windows as often as it gets DATA', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 1]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('x'.repeat(100), true);
    };
    const ids = Array.from({ length: 30 }, (_none, index) => 2 * index + 1);
    client.send(...ids.map((id) => get(id)));
    // Together more than are allowed at once.
    for (let step = 1; step < 100; step += 1) {
      client.send(...ids.map((id) => windowUpdate(1, id)));
      await client.settled();
    }
    expect(world.ended).toEqual([]);
    for (const id of ids) expect(await client.body(id)).toHaveLength(100);
  });
});

describe('a caller that stops', () => {
  it.each<[string, readonly Buffer[], number, number, string]>([
    [
      'before its preface',
      [PREFACE.subarray(0, 10)],
      10_000,
      ERROR.enhanceYourCalm,
      'HTTP2_TIMEOUT',
    ],
    ['before its settings', [PREFACE], 10_000, ERROR.enhanceYourCalm, 'HTTP2_TIMEOUT'],
    [
      'without an acknowledgement',
      [PREFACE, settings(), get()],
      10_000,
      ERROR.settingsTimeout,
      'HTTP2_TIMEOUT',
    ],
    [
      'within a header block',
      [PREFACE, settings(), frame(FRAME.settings, FLAG.ack, 0), frame(FRAME.headers, 0, 1)],
      10_000,
      ERROR.enhanceYourCalm,
      'HTTP2_TIMEOUT',
    ],
    [
      'without a request',
      [PREFACE, settings(), frame(FRAME.settings, FLAG.ack, 0)],
      60_000,
      ERROR.noError,
      'HTTP2_IDLE',
    ],
  ])('%s loses its connection', async (_where, frames, timeoutMs, code, reason) => {
    const client = await world.open();
    client.send(...frames);
    if (frames.length > 1) await client.frame(FRAME.settings, 0, FLAG.ack).catch(() => undefined);
    else await client.frame(FRAME.settings);
    clock.advance(timeoutMs - 3000);
    await client.frame(FRAME.settings);
    expect(world.ended).toEqual([]);
    clock.advance(6000);
    expect(world.ended).toEqual([reason]);
    expect(await client.goneWith()).toBe(code);
  });

  it('to read a response loses its stream, and its siblings do not', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 100]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('x'.repeat(exchange.head.method === 'POST' ? 10_000 : 10), true);
    };
    client.send(post());
    await client.frame(FRAME.data, 1);
    clock.advance(20_000);
    client.send(get(3));
    await client.ended(3);
    clock.advance(25_000);
    const { payload } = await client.frame(FRAME.rstStream, 1);
    expect(payload).toEqual(uint32(ERROR.cancel));
    expect([world.seen[0]?.end, world.ended]).toEqual(['timed_out', []]);
    client.send(get(5));
    await client.ended(5);
  });

  it('nearly, and reads less than the least rate, loses its stream', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 100]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('x'.repeat(10_000), true);
    };
    client.send(get());
    for (let step = 0; step < 8; step += 1) {
      await client.settled();
      clock.advance(5000);
      client.send(windowUpdate(100));
    }
    const { payload } = await client.frame(FRAME.rstStream, 1);
    expect(payload).toEqual(uint32(ERROR.cancel));
    expect(world.seen[0]?.end).toBe('timed_out');
  });

  it('before the system has taken the end of its response, loses its stream', () => {
    const stream = new Stream(1, {} as RequestHead, {} as StreamConnection, 0, false);
    const isStalled = (state: StreamState) => {
      stream.state = state;
      return [0, 29_999, 30_000].map((nowMs) => stream.isStalled(nowMs, 30_000, 3000));
    };
    expect(isStalled(STATE.halfClosedRemote)).toEqual([false, false, false]);
    expect(isStalled(STATE.closed)).toEqual([false, false, true]);
  });

  it('after its connection has ended, and keeps its side open, is cut', async () => {
    const half = connect({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
    const client = new FrameClient(half);
    client.send(PREFACE, settings(), frame(FRAME.ping, 0, 1, Buffer.alloc(8)));
    await client.frame(FRAME.goAway);
    expect(world.server.size).toBe(1);
    clock.advance(3000);
    await eventually(() => expect(world.server.size).toBe(0));
    client.destroy();
  });

  it('never, but reads slowly, gets its whole response', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 1000]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('x'.repeat(50_000), true);
    };
    client.send(get());
    // A little more than the least rate, ten times as long as the time-out.
    const perStep = LIMITS.minSendBytesPerSecond * 7;
    for (let sent = 1000; sent < 50_000; sent += perStep) {
      await eventually(
        () => {
          const bytes = client.of(FRAME.data, 1).reduce((sum, one) => sum + one.payload.length, 0);
          expect(bytes).toBe(Math.min(sent, 50_000));
        },
        { intervalMs: 1 },
      );
      clock.advance(5000);
      client.send(windowUpdate(perStep));
    }
    expect(await client.body()).toHaveLength(50_000);
    expect(world.seen[0]?.end).toBe('complete');
  });

  it('but has a stream that waits for its handler keeps it', async () => {
    const client = await acknowledged();
    world.onExchange = () => undefined;
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    clock.advance(1e7);
    await client.settled();
    expect([world.seen[0]?.end, world.ended]).toEqual([undefined, []]);
  });
});

async function acknowledged(...pairs: (readonly [number, number])[]): Promise<FrameClient> {
  const client = await world.connect(...pairs);
  client.send(frame(FRAME.settings, FLAG.ack, 0));
  await client.settled();
  return client;
}

describe('a drain', () => {
  it('closes idle connections at once, and the others when they are idle; they still accept requests', async () => {
    const idle = await acknowledged();
    const busy = await acknowledged();
    const held: (() => void)[] = [];
    world.onExchange = (exchange) => void held.push(() => exchange.respond(200, '', [], true));
    busy.send(get());
    await eventually(() => expect(held).toHaveLength(1));
    world.server.drain();
    expect(await idle.goneWith()).toBe(ERROR.noError);
    busy.send(get(3));
    await eventually(() => expect(held).toHaveLength(2));
    expect(busy.of(FRAME.goAway)).toEqual([]);
    for (const answer of held) answer();
    await Promise.all([busy.ended(1), busy.ended(3)]);
    expect(await busy.goneWith()).toBe(ERROR.noError);
    expect(busy.of(FRAME.goAway).map(({ payload }) => payload.readUInt32BE(0))).toEqual([3]);
  });

  it('closes a connection when the caller has read the last response', async () => {
    const client = await acknowledged([SETTING.initialWindowSize, 2 ** 30]);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send(Buffer.alloc(8_000_000), true);
    };
    client.send(windowUpdate(2 ** 30, 0));
    client.socket.pause();
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.drain();
    client.socket.resume();
    expect(await client.goneWith()).toBe(ERROR.noError);
    expect(world.seen[0]?.end).toBe('complete');
  });

  it('names the last stream only after a round trip, so that no request is lost', async () => {
    const client = await acknowledged();
    world.onExchange = (exchange) => {
      if (exchange.head.method === 'GET') exchange.respond(200, '', [], true);
    };
    client.send(post());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.goAway();
    const first = await client.frame(FRAME.goAway);
    expect(first.payload).toEqual(uint32(2 ** 31 - 1, ERROR.noError));
    // On its way when the caller reads that.
    client.send(get(3));
    await client.ended(3);
    const [ping] = client.of(FRAME.ping).slice(-1);
    client.send(frame(FRAME.ping, FLAG.ack, 0, ping?.payload), get(5));
    const { payload } = await client.frame(FRAME.rstStream, 5);
    expect(payload).toEqual(uint32(ERROR.refusedStream));
    expect(client.of(FRAME.goAway).at(-1)?.payload).toEqual(uint32(3, ERROR.noError));
    client.send(reset(8, 1));
    expect(await client.goneWith()).toBe(ERROR.noError);
    // The last stream never gets a higher number.
    const named = client.of(FRAME.goAway).map((one) => one.payload.readUInt32BE(0));
    expect(named).toEqual([2 ** 31 - 1, 3, 3]);
    expect(world.ended).toEqual([]);
  });

  it('does not wait for a caller that does not answer', async () => {
    const client = await acknowledged();
    world.onExchange = () => undefined;
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    world.server.goAway();
    await client.frame(FRAME.goAway);
    clock.advance(3000);
    await eventually(() => expect(client.of(FRAME.goAway)).toHaveLength(2));
  });
});

describe('the table of a decoder', () => {
  it('stays in step with blocks of refused streams', async () => {
    const client = await world.connect();
    const indexed = Buffer.concat([
      fieldBlock(pseudo()),
      literal(0x40, 'x-a', 'v '),
      literal(0x40, 'x-b', 'w'),
    ]);
    client.send(frame(FRAME.headers, HEAD, 1, indexed));
    await client.frame(FRAME.rstStream, 1);
    client.send(
      frame(FRAME.headers, HEAD, 3, Buffer.concat([fieldBlock(pseudo()), integer(0x80, 0x7f, 62)])),
    );
    await client.ended(3);
    expect(world.seen[0]?.exchange.head.fields).toEqual(['host', 'gateway.test', 'x-b', 'w']);
  });
});
