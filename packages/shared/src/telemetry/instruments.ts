import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** One value and its labels, as `[{ state: 'idle' }, 3]`. */
export type Sample<Label extends string> = readonly [Readonly<Record<Label, string>>, number];

/**
 * Registers Prometheus instruments in one registry.
 *
 * `counter`, `gauge` and `histogram` return an instrument that the caller updates. The `observe` methods
 * register an instrument whose value is read at each scrape, so that the code on the hot path changes a
 * number in memory and nothing else.
 */
export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  /**
   * A counter by one label whose values are known. Each has a series from the start: Prometheus does not see the
   * first event of a series that begins with it, so an alert on the increase would miss it.
   */
  counterBy<Label extends string>(
    name: string,
    help: string,
    label: Label,
    values: readonly string[],
  ): Counter<Label> {
    const counter = this.counter(name, help, [label]);
    for (const value of values) counter.labels(value).inc(0);
    return counter;
  }

  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  /** @param buckets the upper bounds, in ascending order and in the unit that the name ends with */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name,
      help,
      labelNames,
      buckets: [...buckets],
      registers: this.#registers,
    });
  }

  /** A counter without labels. @param read the count since the start of the process */
  observeCounter(name: string, help: string, read: () => number): void {
    this.observeCounters(name, help, [], () => [[{}, read()]]);
  }

  /** A counter with labels. @param read every count since the start of the process */
  observeCounters<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<Sample<Label>>,
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }

  /** A gauge without labels. */
  observeGauge(name: string, help: string, read: () => number): void {
    this.observeGauges(name, help, [], () => [[{}, read()]]);
  }

  /** A gauge with labels. @param read every value; a value that is missing leaves the metrics */
  observeGauges<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<Sample<Label>>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }
}
