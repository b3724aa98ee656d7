import { readFileSync } from 'node:fs';
import { z } from 'zod';

const TYPES = ['counter', 'gauge', 'histogram'] as const;

export interface DocumentedMetric {
  readonly type: (typeof TYPES)[number];
  readonly labels: readonly string[];
}

/** `| name | type | labels | …` */
const ROW = /^\| `(gateway_\w+)` +\| (\w+) +\|([^|]*)\|/gm;

/** The metrics of docs/run/metrics.md by name. A test compares that page with both planes. */
export function documentedMetrics(): ReadonlyMap<string, DocumentedMetric> {
  const page = readFileSync(new URL('../../docs/run/metrics.md', import.meta.url), 'utf8');
  return new Map(
    [...page.matchAll(ROW)].map(([, name = '', type, labels = '']) => [
      name,
      {
        type: z.enum(TYPES).parse(type),
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
      },
    ]),
  );
}
