import type { Exemplar } from '@gateway/shared/telemetry/open-metrics';
import type { Metric, Registry } from 'prom-client';

type Labels = readonly string[];

/** Upper bounds in seconds: from the gateway's own latency to the longest deadline. */
const BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
] as const;

interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metricName?: string;
  readonly exemplar?: Exemplar | undefined;
}

export interface Count {
  count: number;
}

/** The slices of a sweep; at its end, whether it removed rows. */
export type Sweep = Generator<undefined, boolean>;

/** How many rows a sweep looks at before it lets others run: about a millisecond. */
const SLICE_ROWS = 1_000;

/** Rows of numbers by label values. Above `maxRows`, new label values share one row named `other`. */
class Rows<T> {
  readonly names: Labels;
  readonly #rows = new Map<string, { readonly labels: Labels; readonly row: T }>();
  readonly #maxRows: number;
  readonly #make: () => T;
  /** Keys of the rows that were not live at the last sweep. */
  #ending: ReadonlySet<string> = new Set();
  #sweptFor: object | undefined;
  #sweptSize = 0;

  constructor(names: Labels, maxRows: number, make: () => T) {
    this.names = names;
    this.#maxRows = maxRows;
    this.#make = make;
  }

  at(labels: Labels): T {
    const key = labels.join('\n');
    const found = this.#rows.get(key);
    if (found !== undefined) return found.row;
    const full = this.#rows.size >= this.#maxRows;
    const kept = full ? labels.map(() => 'other') : labels;
    const keptKey = full ? kept.join('\n') : key;
    const row = this.#rows.get(keptKey)?.row ?? this.#make();
    this.#rows.set(keptKey, { labels: kept, row });
    return row;
  }

  /**
   * Removes the rows that are not live at this and at the last call.
   *
   * @param live what decides; if it and the rows are those of the last call, there is nothing to do
   * @returns whether there were any; a row that a caller kept is then not read any more
   */
  *sweep(live: object, isLive: (labels: Labels) => boolean): Sweep {
    const same = live === this.#sweptFor && this.#rows.size === this.#sweptSize;
    if (same && this.#ending.size === 0) return false;
    const ending = new Set<string>();
    let removed = false;
    let seen = 0;
    for (const [key, { labels }] of this.#rows) {
      seen += 1;
      if (seen % SLICE_ROWS === 0) yield;
      if (isLive(labels)) continue;
      if (!this.#ending.has(key)) ending.add(key);
      else removed = this.#rows.delete(key);
    }
    this.#ending = ending;
    this.#sweptFor = live;
    this.#sweptSize = this.#rows.size;
    return removed;
  }

  *entries(): Generator<{ readonly labels: Record<string, string>; readonly row: T }> {
    for (const { labels, row } of this.#rows.values()) {
      const named = this.names.map((name, index) => [name, labels[index] ?? '']);
      yield { labels: Object.fromEntries(named) as Record<string, string>, row };
    }
  }
}

/**
 * A counter that costs one map lookup and one addition. The counter of prom-client hashes and checks the
 * label object at every increment, which is measurable on the data path.
 */
export class CountTable {
  readonly #rows: Rows<Count>;

  constructor(registry: Registry, name: string, help: string, labels: Labels, maxRows: number) {
    this.#rows = new Rows(labels, maxRows, () => ({ count: 0 }));
    registerMetric(registry, name, help, 'counter', () =>
      [...this.#rows.entries()].map((entry) => ({ value: entry.row.count, labels: entry.labels })),
    );
  }

  /** The row of these label values; callers on hot paths keep it. */
  at(labels: Labels): Count {
    return this.#rows.at(labels);
  }

  /** Removes the rows that are not live at this and at the last call. Returns whether there were any. */
  sweep(live: object, isLive: (labels: Labels) => boolean): Sweep {
    return this.#rows.sweep(live, isLive);
  }
}

export interface Histogram {
  readonly counts: Float64Array;
  sum: number;
  count: number;
  /** The last sampled observation of each bucket; undefined: there was none. */
  exemplars: (Exemplar | undefined)[] | undefined;
}

/** A histogram of durations in seconds that is as cheap as `CountTable`. */
export class DurationTable {
  readonly #rows: Rows<Histogram>;

  constructor(registry: Registry, name: string, help: string, labels: Labels, maxRows: number) {
    this.#rows = new Rows(labels, maxRows, () => ({
      counts: new Float64Array(BUCKETS.length),
      sum: 0,
      count: 0,
      exemplars: undefined,
    }));
    registerMetric(registry, name, help, 'histogram', () => this.#values(name));
  }

  at(labels: Labels): Histogram {
    return this.#rows.at(labels);
  }

  /** As that of `CountTable`. */
  sweep(live: object, isLive: (labels: Labels) => boolean): Sweep {
    return this.#rows.sweep(live, isLive);
  }

  #values(name: string): Value[] {
    const values: Value[] = [];
    for (const { labels, row } of this.#rows.entries()) {
      let below = 0;
      BUCKETS.forEach((bound, index) => {
        below += row.counts[index] ?? 0;
        values.push({
          metricName: `${name}_bucket`,
          value: below,
          labels: { ...labels, le: String(bound) },
          exemplar: row.exemplars?.[index],
        });
      });
      values.push({
        metricName: `${name}_bucket`,
        value: row.count,
        labels: { ...labels, le: '+Inf' },
        exemplar: row.exemplars?.[BUCKETS.length],
      });
      values.push({ metricName: `${name}_sum`, value: row.sum, labels });
      values.push({ metricName: `${name}_count`, value: row.count, labels });
    }
    return values;
  }
}

/** Adds a duration to a row of a `DurationTable`. */
export function observe(row: Histogram, seconds: number): void {
  row.sum += seconds;
  row.count += 1;
  const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
  if (bucket !== -1) row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
}

/** Notes the trace of an observation at its bucket. */
export function noteExemplar(row: Histogram, exemplar: Exemplar): void {
  const bucket = BUCKETS.findIndex((bound) => exemplar.value <= bound);
  row.exemplars ??= [];
  row.exemplars[bucket === -1 ? BUCKETS.length : bucket] = exemplar;
}

/** Registers a metric whose values are read at each scrape, without the checks of prom-client for each of them. */
export function registerMetric(
  registry: Registry,
  name: string,
  help: string,
  type: 'counter' | 'gauge' | 'histogram',
  values: () => Value[],
): void {
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: () => Promise.resolve({ name, help, type, values: values(), aggregator: 'sum' }),
    reset: () => undefined,
  };
  registry.registerMetric(metric as unknown as Metric);
}
