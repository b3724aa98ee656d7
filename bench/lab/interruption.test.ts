import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { untilInterrupted } from './interruption.ts';

/** Ends with the AbortError of `once`. */
const untilAborted = async (signal: AbortSignal) => {
  await once(new EventEmitter(), 'never', { signal });
};

describe('untilInterrupted', () => {
  it.each([
    ['SIGINT', 'bench: interrupted'],
    ['SIGTERM', 'bench: terminated'],
  ])('aborts the work at %s and says so', async (signal, reason) => {
    const source = new EventEmitter();
    const running = untilInterrupted(untilAborted, source);
    expect(source.emit(signal)).toBe(true);
    await expect(running).rejects.toThrow(reason);
  });

  it('leaves the second Ctrl-C to Node, which ends the process', async () => {
    const source = new EventEmitter();
    const running = untilInterrupted(untilAborted, source);
    source.emit('SIGINT');
    expect(source.listenerCount('SIGINT')).toBe(0);
    await expect(running).rejects.toThrow('interrupted');
  });

  it('lets the work stop itself for a reason', async () => {
    const running = untilInterrupted((signal, stop) => {
      stop('not done within 3 s');
      return untilAborted(signal);
    }, new EventEmitter());
    await expect(running).rejects.toThrow('bench: not done within 3 s');
  });

  it('rejects too if the work ends well after it was interrupted', async () => {
    const source = new EventEmitter();
    const running = untilInterrupted(
      (signal) => once(signal, 'abort').then(() => 'partial'),
      source,
    );
    source.emit('SIGINT');
    await expect(running).rejects.toThrow('bench: interrupted');
  });

  it('returns what the work returns', async () => {
    const running = untilInterrupted(() => Promise.resolve('all'), new EventEmitter());
    await expect(running).resolves.toBe('all');
  });

  it('passes on an error of the work, and then listens no longer', async () => {
    const source = new EventEmitter();
    const failing = untilInterrupted(() => Promise.reject(new Error('broken')), source);
    await expect(failing).rejects.toThrow('broken');
    expect(source.eventNames()).toEqual([]);
  });
});
