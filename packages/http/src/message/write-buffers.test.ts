import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { WriteBuffers } from './write-buffers.ts';

type Written = (error?: Error | null) => void;

/** A target whose writes end when the test says so. */
function heldTarget() {
  const written: Written[] = [];
  const target = new Writable({
    write: (_chunk, _encoding, callback) => void written.push(callback),
  });
  target.on('error', () => undefined);
  /** The callbacks of a stream run later in the same turn. */
  const end = async (error?: Error) => {
    written.shift()?.(error ?? null);
    await new Promise(setImmediate);
  };
  return { target, end };
}

describe('a write buffer', () => {
  it('is used again after its write has ended, the last one first', async () => {
    const buffers = new WriteBuffers(8, 2);
    const { target, end } = heldTarget();
    const [first, second] = [buffers.take(), buffers.take()];
    first.write(target, 8);
    second.write(target, 8);
    expect(buffers.unused).toBe(0);
    await end();
    expect(buffers.unused).toBe(1);
    await end();
    expect([buffers.take(), buffers.take()]).toEqual([second, first]);
  });

  it('is not used again after its write has failed', async () => {
    const buffers = new WriteBuffers(8, 2);
    const { target, end } = heldTarget();
    buffers.take().write(target, 8);
    // Fails because the write before it did.
    buffers.take().write(target, 8);
    await end(new Error('reset'));
    expect(buffers.unused).toBe(0);
  });

  it('is not used again if its target was destroyed, whatever the write reports', async () => {
    const buffers = new WriteBuffers(8, 2);
    const { target, end } = heldTarget();
    buffers.take().write(target, 8);
    target.destroy();
    await end();
    expect(buffers.unused).toBe(0);
  });

  it('is left to the garbage collector if enough are kept', async () => {
    const buffers = new WriteBuffers(8, 2);
    const { target, end } = heldTarget();
    for (let count = 0; count < 3; count += 1) buffers.take().write(target, 8);
    for (let count = 0; count < 3; count += 1) await end();
    expect(buffers.unused).toBe(2);
  });
});
