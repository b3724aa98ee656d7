import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { BucketRoom } from './bucket-room.ts';
import { settled } from '../../test/idempotency/key-world.ts';

const MAX_BYTES = 1000;

describe('the room of a bucket', () => {
  async function roomAt(bytes: number, maxBytes = MAX_BYTES) {
    const room = new BucketRoom(manualClock(), () => Promise.resolve({ bytes, maxBytes }));
    expect(room.hasRoom).toBe(true);
    await settled();
    return room.hasRoom;
  }

  it('ends before the bucket is full, so that there is room for outcomes of requests in flight', async () => {
    expect(await roomAt(899)).toBe(true);
    expect(await roomAt(900)).toBe(false);
    expect(await roomAt(1e12, -1)).toBe(true);
  });

  it('is read once a second, and stays the same if the read fails', async () => {
    const clock = manualClock();
    let asked = 0;
    let bytes = MAX_BYTES;
    const room = new BucketRoom(clock, () => {
      asked += 1;
      return asked === 2
        ? Promise.reject(new Error('away'))
        : Promise.resolve({ bytes, maxBytes: MAX_BYTES });
    });
    const look = () => room.hasRoom;
    const after = async (ms: number) => {
      clock.advance(ms);
      look();
      await settled();
      return look();
    };
    expect(await after(0)).toBe(false);
    expect(await after(999)).toBe(false);
    expect(asked).toBe(1);
    expect(await after(1)).toBe(false);
    bytes = 0;
    expect(await after(1000)).toBe(true);
    expect(asked).toBe(3);
  });
});
