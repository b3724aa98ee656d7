import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createRunner } from './runner.ts';

const silent = pino({ level: 'silent' });

describe('a runner', () => {
  it('closes in reverse order, each part once, also if it is stopped twice', async () => {
    const undone: string[] = [];
    const runner = createRunner(silent);
    runner.defer('first', () => void undone.push('first'));
    runner.defer('second', async () => {
      await Promise.resolve();
      undone.push('second');
    });
    await Promise.all([runner.stop(), runner.stop()]);
    expect(undone).toEqual(['second', 'first']);
  });

  it('continues after a part that fails, and returns the first error', async () => {
    const undone: string[] = [];
    const runner = createRunner(silent);
    runner.defer('last', () => void undone.push('last'));
    runner.defer('bad', () => {
      throw new Error('bad');
    });
    runner.defer('worse', () => Promise.reject(new Error('worse')));
    expect(await runner.stop()).toEqual(new Error('worse'));
    expect(undone).toEqual(['last']);
  });
});
