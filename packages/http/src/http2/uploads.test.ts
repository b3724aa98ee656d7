import { expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { data, frame, post, reset, uint32, type FrameClient } from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { FIRST_WINDOW, FLAG, FRAME, MAX_FRAME_BYTES, SETTING } from './protocol.ts';

const clock = manualClock();
const world = serveHttp2EachTest({ clock });
const ROUND_TRIP_MS = 100;

/** Sends bodies at the pace of a long way: what the server sends within a round trip is read at the end of it. */
class FarClient {
  readonly #client: FrameClient;
  #seen = 0;
  #connectionWindow = FIRST_WINDOW;
  #firstWindow = FIRST_WINDOW;
  #streamWindow = 0;
  #replies: Buffer[] = [];
  pings = 0;

  constructor(client: FrameClient) {
    this.#client = client;
  }

  /** Returns how many round trips it takes until the server has the body. */
  async upload(stream: number, bytes: number, isAnnounced: boolean): Promise<number> {
    this.#streamWindow = this.#firstWindow;
    const fields = isAnnounced ? ([['content-length', String(bytes)]] as const) : [];
    const frames = [post(stream, fields)];
    let rounds = 0;
    for (let left = bytes; left > 0; rounds += 1) {
      frames.push(...this.#replies.splice(0));
      for (;;) {
        const allowed = Math.min(left, this.#connectionWindow, this.#streamWindow);
        const part = Math.min(allowed, MAX_FRAME_BYTES);
        if (part === 0) break;
        left -= part;
        this.#connectionWindow -= part;
        this.#streamWindow -= part;
        frames.push(data(Buffer.alloc(part), left === 0 ? FLAG.endStream : 0, stream));
      }
      this.#client.send(...frames.splice(0));
      await this.#client.settled();
      clock.advance(ROUND_TRIP_MS);
      this.#read(stream);
    }
    return rounds;
  }

  #read(stream: number): void {
    const { frames } = this.#client;
    for (const { type, flags, stream: id, payload } of frames.slice(this.#seen)) {
      if (type === FRAME.windowUpdate && id === 0)
        this.#connectionWindow += payload.readUInt32BE(0);
      if (type === FRAME.windowUpdate && id === stream)
        this.#streamWindow += payload.readUInt32BE(0);
      if ((flags & FLAG.ack) !== 0) continue;
      if (type === FRAME.ping) {
        this.pings += 1;
        this.#replies.push(frame(FRAME.ping, FLAG.ack, 0, payload));
      }
      if (type === FRAME.settings) {
        this.#settings(payload);
        this.#replies.push(frame(FRAME.settings, FLAG.ack, 0));
      }
    }
    this.#seen = frames.length;
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at < payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== SETTING.initialWindowSize) continue;
      const value = payload.readUInt32BE(at + 2);
      this.#streamWindow += value - this.#firstWindow;
      this.#firstWindow = value;
    }
  }
}

const BYTES = 5_000_000;

async function farClient(): Promise<FarClient> {
  const client = await world.connect([SETTING.initialWindowSize, 2 ** 31 - 1]);
  client.send(frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 30)));
  return new FarClient(client);
}

it('a body of an announced length takes one round trip more than without windows', async () => {
  const client = await farClient();
  expect(await client.upload(1, BYTES, true)).toBe(2);
  // Later ones too, each with the first window of its stream.
  expect(await client.upload(3, BYTES, true)).toBe(2);
  expect(client.pings).toBe(0);
  expect(world.seen.map(({ exchange }) => exchange.body.ended)).toEqual(['complete', 'complete']);
});

it('a body of any length takes few round trips, because windows grow by what is used within one', async () => {
  const client = await farClient();
  // The first round trip is that of the settings.
  expect(await client.upload(1, BYTES, false)).toBe(3);
  expect(await client.upload(3, BYTES, false)).toBe(2);
  expect(client.pings).toBe(0);
});

it('a body of any length on a connection that was used for others takes one round trip more', async () => {
  const client = await farClient();
  // Short bodies cost no ping.
  expect(await client.upload(1, 100, false)).toBe(1);
  expect(await client.upload(3, 10_000, false)).toBe(1);
  expect(client.pings).toBe(0);
  expect(await client.upload(5, BYTES, false)).toBe(3);
  expect(client.pings).toBe(1);
});

it('windows grow as soon as a round trip has ended, although nothing more has arrived', async () => {
  const client = await world.connect();
  client.send(post(), ...Array.from({ length: 4 }, () => data(Buffer.alloc(16_000))));
  await client.settled();
  clock.advance(ROUND_TRIP_MS);
  expect(client.of(FRAME.windowUpdate, 1)).toEqual([]);
  client.send(frame(FRAME.settings, FLAG.ack, 0));
  const { payload } = await client.frame(FRAME.windowUpdate, 1);
  expect(payload.readUInt32BE(0)).toBeGreaterThan(BYTES);
});

it('an announced body that was reset keeps no window', async () => {
  const client = await world.connect();
  for (const id of [1, 3, 5]) {
    client.send(post(id, [['content-length', String(BYTES)]]));
    await client.settled();
    client.send(reset(8, id));
    await client.settled();
  }
  const updates = client.of(FRAME.windowUpdate, 0).map(({ payload }) => payload.readUInt32BE(0));
  // That of the start, and that of the first body: the others find it in place.
  expect(updates).toEqual([expect.any(Number), BYTES]);
});
