import { expect, it } from '@jest/globals';
import { STATE } from './stream-state.ts';
import type { Stream } from './stream.ts';
import { Streams } from './streams.ts';

it('a stream that both sides have ended does not count as open, though the end of its response is not taken', () => {
  const streams = new Streams();
  const add = (id: number, state: number) => streams.open.set(id, { id, state } as Stream);
  add(1, STATE.open);
  add(3, STATE.halfClosedRemote);
  expect([streams.isFull(2), streams.isFull(3)]).toEqual([true, false]);
  add(5, STATE.closed);
  add(7, STATE.closed);
  expect([streams.isFull(2), streams.isFull(3)]).toEqual([true, false]);
  add(9, STATE.halfClosedLocal);
  expect(streams.isFull(3)).toBe(true);
});
