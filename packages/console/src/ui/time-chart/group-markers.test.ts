import { expect, it } from '@jest/globals';
import { groupMarkers } from './group-markers.ts';

const marker = (version: number, atMs: number) => ({ version, atMs, label: `Version ${version}` });

it('shows markers of the range, and one for those that would overlap', () => {
  const markers = [marker(4, 505), marker(3, 500), marker(2, 100), marker(1, -5), marker(5, 1001)];
  expect(groupMarkers(markers, { fromMs: 0, toMs: 1000 })).toEqual([
    { place: 0.1, version: 2, label: 'Version 2' },
    { place: 0.505, version: 4, label: 'Versions 3 to 4; the newest: Version 4' },
  ]);
});
