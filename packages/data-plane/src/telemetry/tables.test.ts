import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { CountTable, DurationTable, observe } from './tables.ts';

const MAX_ROWS = 2;

/** Lines of a metric without its buckets. */
async function lines(registry: Registry, metric: string): Promise<string[]> {
  const text = await registry.getSingleMetricAsString(metric);
  return text.split('\n').filter((line) => line.startsWith(metric) && !line.includes('le='));
}

it('label values above the bound are counted in one row', async () => {
  const registry = new Registry();
  const requests = new CountTable(registry, 'requests_total', 'h', ['route', 'status'], MAX_ROWS);
  const seconds = new DurationTable(registry, 'seconds', 'h', ['route'], MAX_ROWS);
  for (const route of ['a', 'b', 'c', 'd', 'a']) {
    requests.at([route, '200']).count += 1;
    observe(seconds.at([route]), 0.5);
  }
  expect(await lines(registry, 'requests_total')).toEqual([
    'requests_total{route="a",status="200"} 2',
    'requests_total{route="b",status="200"} 1',
    'requests_total{route="other",status="other"} 2',
  ]);
  expect(await lines(registry, 'seconds')).toEqual([
    'seconds_sum{route="a"} 1',
    'seconds_count{route="a"} 2',
    'seconds_sum{route="b"} 0.5',
    'seconds_count{route="b"} 1',
    'seconds_sum{route="other"} 1',
    'seconds_count{route="other"} 2',
  ]);
});

it('label values that ended make room for others', async () => {
  const registry = new Registry();
  const requests = new CountTable(registry, 'requests_total', 'h', ['route'], MAX_ROWS);
  for (const route of ['a', 'b', 'c']) requests.at([route]).count += 1;
  const names = new Set(['b', 'c', 'other']);
  const sweep = (live: object) => {
    const { done, value } = requests.sweep(live, ([route = '']) => names.has(route)).next();
    return done === true && value;
  };
  const live = {};
  expect([sweep(live), sweep(live), sweep(live)]).toEqual([false, true, false]);
  requests.at(['b']).count += 1;
  expect(await lines(registry, 'requests_total')).toEqual([
    'requests_total{route="b"} 2',
    'requests_total{route="other"} 1',
  ]);
  names.delete('b');
  const next = {};
  expect([sweep(next), sweep(next)]).toEqual([false, true]);
  requests.at(['c']).count += 1;
  expect(await lines(registry, 'requests_total')).toEqual([
    'requests_total{route="other"} 1',
    'requests_total{route="c"} 1',
  ]);
  names.delete('c');
  // A row that is new since the last sweep is looked at, though nothing else has changed.
  expect([sweep(next), sweep(next)]).toEqual([false, true]);
});

it('a sweep of many rows lets others run in between', () => {
  const requests = new CountTable(new Registry(), 'requests_total', 'h', ['route'], 5_000);
  for (let at = 0; at < 3_500; at += 1) requests.at([String(at)]).count += 1;
  const live = {};
  for (const removed of [false, true]) {
    const slices = requests.sweep(live, () => false);
    const ends = Array.from({ length: 4 }, () => slices.next());
    expect(ends.map(({ done }) => done)).toEqual([false, false, false, true]);
    expect(ends.at(-1)?.value).toBe(removed);
  }
});
