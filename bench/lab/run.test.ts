import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { scoped, untilInterrupted, type Run } from './run.ts';

/** Ends with the AbortError of `once`. */
const untilAborted = ({ signal }: Run) => once(new EventEmitter(), 'never', { signal });

describe('untilInterrupted', () => {
  it.each([
    ['SIGINT', 'bench: interrupted'],
    ['SIGTERM', 'bench: terminated'],
  ])(
    'aborts the run at %s, says so, and leaves a second signal to Node',
    async (signal, reason) => {
      const source = new EventEmitter();
      const running = untilInterrupted(untilAborted, source);
      expect(source.emit(signal)).toBe(true);
      expect(source.listenerCount(signal)).toBe(0);
      await expect(running).rejects.toThrow(reason);
    },
  );

  it('aborts a run that takes too long', async () => {
    const running = untilInterrupted(untilAborted, new EventEmitter(), 1);
    await expect(running).rejects.toThrow('bench: not done within 0.001 s');
  });

  it('rejects too if the work ends well after it was interrupted', async () => {
    const source = new EventEmitter();
    const running = untilInterrupted(({ signal }) => once(signal, 'abort'), source);
    source.emit('SIGINT');
    await expect(running).rejects.toThrow('bench: interrupted');
  });

  it('closes what a part and the run have opened, also after an error, and passes it on', async () => {
    const source = new EventEmitter();
    const closed: string[] = [];
    const failing = untilInterrupted(async (run) => {
      run.defer(() => closed.push('run'));
      const result = await scoped(run, (part) => {
        part.defer(() => closed.push('part'));
        return Promise.resolve('of the part');
      });
      expect(result).toBe('of the part');
      expect(closed).toEqual(['part']);
      throw new Error('broken');
    }, source);
    await expect(failing).rejects.toThrow('broken');
    expect(closed).toEqual(['part', 'run']);
    expect(source.eventNames()).toEqual([]);
  });
});
