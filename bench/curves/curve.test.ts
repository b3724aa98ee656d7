import { describe, expect, it } from '@jest/globals';
import { chartOf, formatNumber, tableOf, type Curve, type Series } from './curve.ts';

const curve: Curve = {
  name: 'routes',
  title: 'CPU per request over routes',
  x: 'routes',
  y: 'µs',
  measure: () => Promise.resolve([]),
};
const series = (name: string, ...ys: number[]): Series => {
  return { name, points: ys.map((y, at) => ({ x: 100 ** at, y })) };
};

describe('a curve', () => {
  it('is a table of its points, in three digits and with a space between thousands', () => {
    const lines = tableOf(curve, [series('one', 30.123, 33, 12_345)]).split('\n');
    expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      '| routes | µs |',
      '| ------ | -----: |',
      '| 1 | 30.1 |',
      '| 100 | 33 |',
      '| 10 000 | 12 300 |',
    ]);
    expect([0.25, 1000, 300_000].map(formatNumber)).toEqual(['0.25', '1000', '300 000']);
  });

  it('is a chart from 0, with a line for each series', () => {
    const chart = chartOf(curve, [series('one', 30.123, 33), series('all', 31, 50)]);
    expect(chart.split('\n')).toEqual([
      '```mermaid',
      'xychart-beta',
      '  title "CPU per request over routes: one; all"',
      '  x-axis "routes" ["1", "100"]',
      '  y-axis "µs" 0 --> 60',
      '  line [30.1, 33]',
      '  line [31, 50]',
      '```',
    ]);
  });
});
