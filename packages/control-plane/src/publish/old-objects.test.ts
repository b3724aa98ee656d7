import { describe, expect, it } from '@jest/globals';
import { snapshotAttemptName } from '@gateway/shared/messaging/names';
import { oldObjects } from './old-objects.ts';

describe('old snapshots', () => {
  it('do not include the ten newest versions, nor those ahead of the pointer', () => {
    const names = Array.from({ length: 22 }, (_, index) =>
      snapshotAttemptName('prod', index + 1, 'ab'),
    );
    const removed = oldObjects(names, new Map([['prod', 20]]));
    expect(removed.toSorted()).toEqual(names.slice(0, 10).toSorted());
  });

  it('do not include the newest three, even if deltas are far ahead of them', () => {
    const names = [1, 5, 9, 13].map((version) => snapshotAttemptName('prod', version, 'ab'));
    expect(oldObjects(names, new Map([['prod', 1000]]))).toEqual(['prod.1.ab']);
  });

  it('do not include environments without a verified pointer, nor unknown names', () => {
    const names = ['dev.1.ab', 'prod.1', 'notes', 'prod.x.ab', '.1.ab'];
    expect(oldObjects(names, new Map([['prod', 100]]))).toEqual([]);
  });

  it('are counted for each environment, also if one name begins with another', () => {
    expect(oldObjects(['prod-eu.1.ab'], new Map([['prod', 100]]))).toEqual([]);
  });
});
