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

/**
 * The numbers of a histogram: the sum in seconds, the count, and the count of each bucket. One flat array, because each
 * object is one more access to memory that is rarely in a cache when thousands of routes are in use.
 */
export type Histogram = number[];
const SUM = 0;
const COUNT = 1;
const FIRST_BUCKET = 2;

/** A histogram of durations in seconds that is as cheap as `CountTable`. */
export class DurationTable {
  readonly #rows: Rows<Histogram>;

  constructor(registry: Registry, name: string, help: string, labels: Labels, maxRows: number) {
    this.#rows = new Rows(labels, maxRows, emptyHistogram);
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
      const sampled = exemplars.get(row);
      let below = 0;
      BUCKETS.forEach((bound, index) => {
        below += row[FIRST_BUCKET + index] ?? 0;
        values.push({
          metricName: `${name}_bucket`,
          value: below,
          labels: { ...labels, le: String(bound) },
          exemplar: sampled?.[index],
        });
      });
      values.push({
        metricName: `${name}_bucket`,
        value: row[COUNT] ?? 0,
        labels: { ...labels, le: '+Inf' },
        exemplar: sampled?.[BUCKETS.length],
      });
      values.push({ metricName: `${name}_sum`, value: row[SUM] ?? 0, labels });
      values.push({ metricName: `${name}_count`, value: row[COUNT] ?? 0, labels });
    }
    return values;
  }
}

function emptyHistogram(): Histogram {
  return new Array<number>(FIRST_BUCKET + BUCKETS.length).fill(0);
}

/** The last sampled observation of each bucket. */
const exemplars = new WeakMap<Histogram, (Exemplar | undefined)[]>();

/** The index of the first bucket that holds the duration; that of `+Inf` is the number of the others. */
function bucketOf(seconds: number): number {
  let index = 0;
  while (index < BUCKETS.length && seconds > (BUCKETS[index] ?? 0)) index += 1;
  return index;
}

/** Adds a duration to a row of a `DurationTable`. */
export function observe(row: Histogram, seconds: number): void {
  row[SUM] = (row[SUM] ?? 0) + seconds;
  row[COUNT] = (row[COUNT] ?? 0) + 1;
  const bucket = bucketOf(seconds);
  if (bucket === BUCKETS.length) return;
  row[FIRST_BUCKET + bucket] = (row[FIRST_BUCKET + bucket] ?? 0) + 1;
}

/** Notes the trace of an observation at its bucket. */
export function noteExemplar(row: Histogram, exemplar: Exemplar): void {
  let sampled = exemplars.get(row);
  if (sampled === undefined) exemplars.set(row, (sampled = []));
  sampled[bucketOf(exemplar.value)] = exemplar;
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
