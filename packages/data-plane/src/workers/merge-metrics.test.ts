import { describe, expect, it } from '@jest/globals';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { mergeMetrics } from './merge-metrics.ts';

function registryOf(worker: string, count: number): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  new Counter({ name: 'taken_total', help: 'Taken.', registers }).inc(count);
  const labelled = new Gauge({ name: 'held', help: 'Held.', labelNames: ['of'], registers });
  labelled.set({ of: 'a "b"\n' }, count);
  new Histogram({ name: 'took', help: 'Took.', buckets: [1], registers }).observe(count);
  return registry;
}

describe('merged metrics', () => {
  it('describe each metric once and keep every sample', async () => {
    const texts = await Promise.all(
      [registryOf('1', 3), registryOf('2', 4)].map((r) => r.metrics()),
    );
    const lines = mergeMetrics(texts).split('\n');
    for (const name of ['taken_total', 'held', 'took']) {
      expect(lines.filter((line) => line.startsWith(`# TYPE ${name} `))).toHaveLength(1);
    }
    expect(lines).toEqual(
      expect.arrayContaining([
        'taken_total{worker="1"} 3',
        'taken_total{worker="2"} 4',
        'held{of="a \\"b\\"\\n",worker="2"} 4',
        'took_bucket{le="+Inf",worker="1"} 1',
        'took_sum{worker="2"} 4',
      ]),
    );
    const values = texts.flatMap((text) => text.split('\n').filter((line) => /^[^#]/.test(line)));
    expect(lines.filter((line) => /^[^#]/.test(line)).toSorted()).toEqual(values.toSorted());
  });

  it('are grouped by metric, as the format requires', async () => {
    const texts = await Promise.all(
      [registryOf('1', 3), registryOf('2', 4)].map((r) => r.metrics()),
    );
    const names = mergeMetrics(texts)
      .split('\n')
      .filter((line) => /^[^#]/.test(line))
      .map((line) => /^(taken|held|took)/.exec(line)?.[0]);
    const runs = names.filter((name, index) => name !== names[index - 1]);
    expect(runs).toEqual(['taken', 'held', 'took']);
  });

  it('stay unchanged if there is one process', async () => {
    const text = await registryOf('1', 3).metrics();
    expect(mergeMetrics([text]).trim()).toBe(text.trim());
  });
});
