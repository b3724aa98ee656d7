import { describe, expect, it } from '@jest/globals';
import { attemptObject } from '@gateway/shared/messaging/names';
import { oldObjects } from './old-objects.ts';

describe('the choice of old snapshots', () => {
  it('keeps the ten newest versions, and whatever is ahead of the pointer', () => {
    const names = Array.from({ length: 22 }, (_, index) => attemptObject('prod', index + 1, 'ab'));
    const removed = oldObjects(names, new Map([['prod', 20]]));
    expect(removed.toSorted()).toEqual(names.slice(0, 10).toSorted());
  });

  it('keeps the newest three though deltas have led far beyond them', () => {
    const names = [1, 5, 9, 13].map((version) => attemptObject('prod', version, 'ab'));
    expect(oldObjects(names, new Map([['prod', 1000]]))).toEqual(['prod.1.ab']);
  });

  it('touches no environment whose pointer is not proven, and no name that it does not know', () => {
    const names = ['dev.1.ab', 'prod.1', 'notes', 'prod.x.ab', '.1.ab'];
    expect(oldObjects(names, new Map([['prod', 100]]))).toEqual([]);
  });

  it('does not take one environment for another whose name it begins with', () => {
    expect(oldObjects(['prod-eu.1.ab'], new Map([['prod', 100]]))).toEqual([]);
  });
});
