import { expect, it } from '@jest/globals';
import { groupMarkers } from './group-markers.ts';

const marker = (version: number, atMs: number) => ({
  of: { version },
  atMs,
  label: `Version ${version}`,
});
const change = (id: string, atMs: number) => ({
  of: { routeId: 'rte_1', change: id },
  atMs,
  label: id,
});

it('shows markers of the range, and one for those that would overlap', () => {
  const markers = [marker(4, 505), marker(3, 500), marker(2, 100), marker(1, -5), marker(5, 1001)];
  expect(groupMarkers(markers, { fromMs: 0, toMs: 1000 })).toEqual([
    { place: 0.1, of: { version: 2 }, label: 'Version 2' },
    { place: 0.505, of: { version: 4 }, label: 'Versions 3 to 4; the newest: Version 4' },
  ]);
  expect(groupMarkers([change('a', 1), change('b', 2)], { fromMs: 0, toMs: 1000 })).toEqual([
    { place: 0.002, of: { routeId: 'rte_1', change: 'b' }, label: '2 changes; the newest: b' },
  ]);
});

it('leaves room between those that it shows, however many there are', () => {
  const many = Array.from({ length: 200 }, (_none, index) => marker(index, index * 5));
  const places = groupMarkers(many, { fromMs: 0, toMs: 1000 }).map(({ place }) => place);
  expect(places.length).toBeGreaterThan(8);
  places.slice(1).forEach((place, index) => {
    expect(place - (places[index] ?? 0)).toBeGreaterThanOrEqual(0.1 - 1e-9);
  });
});
