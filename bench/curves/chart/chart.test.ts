import { describe, expect, it } from '@jest/globals';
import { fitAxis, formatNumber } from './axis.ts';
import { drawLineChart, type LineChart } from './line-chart.ts';

const chart: LineChart = {
  title: 'CPU per request & routes',
  x: { label: 'routes', scale: 'log' },
  y: { label: 'µs', scale: 'linear' },
  series: [
    {
      name: 'one route',
      points: [
        { x: 1, y: 30 },
        { x: 1000, y: 33 },
      ],
    },
  ],
};

describe('fitAxis', () => {
  it('begins a linear axis at zero and ends it at a round step not below the largest value', () => {
    const axis = fitAxis({ label: '', scale: 'linear' }, [38, 61]);
    expect(axis.ticks).toEqual([0, 20, 40, 60, 80]);
    expect([0, 40, 80].map((value) => axis.at(value))).toEqual([0, 0.5, 1]);
  });

  it('shows small values without rounding errors in its ticks', () => {
    expect(fitAxis({ label: '', scale: 'linear' }, [0.3]).ticks).toEqual([0, 0.1, 0.2, 0.3]);
  });

  it('ends a logarithmic axis at whole powers of ten', () => {
    const axis = fitAxis({ label: '', scale: 'log' }, [1, 30_000]);
    expect(axis.ticks).toEqual([1, 10, 100, 1000, 10_000, 100_000]);
    expect(axis.at(100)).toBeCloseTo(0.4);
  });

  it('refuses a logarithmic axis for zero', () => {
    expect(() => fitAxis({ label: '', scale: 'log' }, [0, 10])).toThrow('cannot show 0');
  });
});

describe('formatNumber', () => {
  it('separates thousands from five digits on', () => {
    expect([0.25, 1000, 100_000, 1_000_000].map(formatNumber)).toEqual([
      '0.25',
      '1000',
      '100 000',
      '1 000 000',
    ]);
  });
});

describe('drawLineChart', () => {
  it('puts each point where its values are on the axes', () => {
    const svg = drawLineChart(chart);
    expect(svg).toContain('<path class="line s0" d="M76 143.5L680 123.9"/>');
    expect(svg.match(/<circle/g)).toHaveLength(2);
  });

  it('escapes what is not markup', () => {
    expect(drawLineChart(chart)).toContain('CPU per request &amp; routes');
  });

  it('has a legend only with several series', () => {
    const [one] = chart.series;
    expect(drawLineChart(chart)).not.toContain('one route');
    const two = { ...chart, series: [one, { name: 'other', points: one?.points }] } as LineChart;
    expect(drawLineChart(two)).toContain('>other</text>');
  });
});
