import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import {
  data,
  fieldBlock,
  frame,
  get,
  post,
  pseudo,
  reset,
  windowUpdate,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ALLOWED, Ledger, type FrameKind } from './limits.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';
import { REST_TIMEOUT_MS } from './unwanted-rest.ts';

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

describe('a caller that sends a body in small parts', () => {
  it.each(['x', 'twelve bytes'])('is served: %s', async (part) => {
    const client = await world.connect();
    client.send(post());
    for (let sent = 0; sent < 5000; sent += 1) client.send(data(part));
    client.send(data('', FLAG.endStream));
    expect(await client.body()).toHaveLength(5000 * part.length);
  });
});

describe('a caller that has not read yet that its request was refused', () => {
  it.each([
    ['while the rest is read', 0],
    ['after its stream was reset', 2 * REST_TIMEOUT_MS],
  ])('may send what the windows allow, window updates, and resets: %s', async (_when, laterMs) => {
    world.onExchange = (exchange) => {
      exchange.body.discard();
      exchange.respond(401, '', [], false);
      exchange.send('x', true);
    };
    const client = await world.acknowledged();
    for (let stream = 1; stream < 800; stream += 2) {
      client.send(post(stream));
      await client.ended(stream);
      if (laterMs > 0) {
        clock.advance(laterMs);
        await client.frame(FRAME.rstStream, stream);
      }
      const late = Array.from({ length: 20 }, () => data('x', 0, stream));
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
    const client = await world.acknowledged();
    client.send(...block(64));
    await client.ended();
    clock.advance(20_000);
    await client.settled();
    expect(world.ended).toEqual([]);
  });

  it('is refused if it has more', async () => {
    const client = await world.acknowledged();
    client.send(...block(65));
    expect(await client.goneWith()).toBe(ERROR.enhanceYourCalm);
    expect([world.ended, world.seen]).toEqual([['HTTP2_FLOOD'], []]);
  });
});

describe('a caller that reads in small steps', () => {
  it('may enlarge its windows as often as it gets DATA', async () => {
    const client = await world.acknowledged([SETTING.initialWindowSize, 1]);
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
