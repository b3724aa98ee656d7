import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import {
  FrameClient,
  frame,
  get,
  post,
  PREFACE,
  settings,
  uint32,
  windowUpdate,
} from '../../test/http2-frames.ts';
import type { RequestHead } from '../message/request-head.ts';
import { LIMITS, serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';
import { STATE, type StreamState } from './stream-state.ts';
import { Stream, type StreamConnection } from './stream.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });

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
    const client = await world.acknowledged([SETTING.initialWindowSize, 100]);
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
    const client = await world.acknowledged([SETTING.initialWindowSize, 100]);
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
    const client = await world.acknowledged([SETTING.initialWindowSize, 1000]);
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
    const client = await world.acknowledged();
    world.onExchange = () => undefined;
    client.send(get());
    await eventually(() => expect(world.seen).toHaveLength(1));
    clock.advance(1e7);
    await client.settled();
    expect([world.seen[0]?.end, world.ended]).toEqual([undefined, []]);
  });
});
