import { describe, expect, it } from '@jest/globals';
import { attemptObject, oldObjects } from './old-objects.ts';

describe('the choice of old snapshots', () => {
  it('keeps the ten newest versions, and whatever is ahead of the pointer', () => {
    const names = Array.from({ length: 22 }, (_, index) => attemptObject('prod', index + 1, 'ab'));
    const removed = oldObjects(names, new Map([['prod', 20]]));
    expect(removed).toEqual(names.slice(0, 10));
  });

  it('touches no environment whose pointer is not proven, and no name that it does not know', () => {
    const names = ['dev.1.ab', 'prod.1', 'notes', 'prod.x.ab', '.1.ab'];
    expect(oldObjects(names, new Map([['prod', 100]]))).toEqual([]);
  });

  it('does not take one environment for another whose name it begins with', () => {
    expect(oldObjects(['prod-eu.1.ab'], new Map([['prod', 100]]))).toEqual([]);
  });
});
