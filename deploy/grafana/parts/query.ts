import type { DocumentedMetric } from '../../prometheus/documented-metrics.ts';
import { definitionOf, hasLabel, isNamedByInfo, SERVICE_INFO } from './metrics.ts';

/** A PromQL expression, and what the legend of Grafana calls its series. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Selection {
  /** Labels that stay; the series of all others are added up. */
  readonly by?: readonly string[];
  /** Matchers such as `status=~"5.."`. */
  readonly where?: readonly string[];
  /** By default the values of the labels in `by`. */
  readonly legend?: string;
}

/** Variables of a dashboard that are labels of metrics too: they filter every query whose metric has the label. */
export type LabelVariable = 'instance' | 'environment' | 'route' | 'service';

/** Makes the queries of one dashboard. @throws Error if a metric or a label does not exist, or if the type is another one */
export class Queries {
  readonly #variables: readonly LabelVariable[];

  constructor(variables: readonly LabelVariable[]) {
    this.#variables = variables;
  }

  /** The rate of a counter. */
  perSecond(metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'counter', '', selection);
    const rate = this.#named(metric, `rate(${series}[$__rate_interval])`);
    return query(`sum${grouped(selection.by)} (${rate})`, selection);
  }

  /** How often something happened between two points of a graph. For events that should not happen. */
  increase(metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'counter', '', selection);
    const increase = this.#named(metric, `increase(${series}[$__rate_interval])`);
    return query(`sum${grouped(selection.by)} (${increase})`, selection);
  }

  /** How often something happened in the whole period that is shown. */
  total(metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'counter', '', selection);
    return query(`sum${grouped(selection.by)} (increase(${series}[$__range]))`, selection);
  }

  /** A gauge, with one value for the series that are put together. */
  gauge(aggregation: 'sum' | 'max' | 'min', metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'gauge', '', selection);
    return query(
      `${aggregation}${grouped(selection.by)} (${this.#named(metric, series)})`,
      selection,
    );
  }

  /** Percentiles of a histogram, each a query. */
  percentiles(metric: string, selection: Selection = {}): Query[] {
    const { by = [] } = selection;
    const series = this.#series(metric, 'histogram', '_bucket', selection);
    const labels = by.map((label) => ` {{${label}}}`).join('');
    return [50, 95, 99].map((percent) => ({
      expr: `histogram_quantile(${percent / 100}, sum by (${['le', ...by].join(', ')}) (rate(${series}[$__rate_interval])))`,
      legend: `p${percent}${labels}`,
    }));
  }

  /** The mean of a histogram. */
  mean(metric: string, selection: Selection = {}): Query {
    const rate = (suffix: string) =>
      `sum${grouped(selection.by)} (rate(${this.#series(metric, 'histogram', suffix, selection)}[$__rate_interval]))`;
    return query(`${rate('_sum')} / ${rate('_count')}`, selection);
  }

  /** The seconds that something took in each second. */
  rateOfSum(metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'histogram', '_sum', selection);
    return query(`sum${grouped(selection.by)} (rate(${series}[$__rate_interval]))`, selection);
  }

  /** The series of a gauge, to compute with. */
  series(metric: string): string {
    return this.#series(metric, 'gauge', '', {});
  }

  /** The buckets of a histogram, for a heatmap. */
  buckets(metric: string, selection: Selection = {}): Query {
    const series = this.#series(metric, 'histogram', '_bucket', selection);
    return { expr: `sum by (le) (increase(${series}[$__rate_interval]))`, legend: '{{le}}' };
  }

  /** The values of a label, for a variable. */
  labelValues(metric: string, label: string, where: readonly string[] = []): string {
    const { type } = definitionOf(metric, [label]);
    const suffix = type === 'histogram' ? '_count' : '';
    return `label_values(${this.#series(metric, type, suffix, { where })}, ${label})`;
  }

  /** Series with the id of a service get its environment and its name. */
  #named(metric: string, series: string): string {
    if (!isNamedByInfo(metric, definitionOf(metric, []))) return series;
    const info = this.#series(SERVICE_INFO, 'gauge', '', {});
    return `${series} * on (instance, worker, service_id) group_left (environment, name) ${info}`;
  }

  #series(
    metric: string,
    type: DocumentedMetric['type'],
    suffix: string,
    { by = [], where = [] }: Selection,
  ): string {
    const given = where.map((matcher) => /^\w+/.exec(matcher)?.[0] ?? '');
    const definition = definitionOf(metric, [...by, ...given]);
    if (definition.type !== type)
      throw new Error(`${metric} is a ${definition.type}, not a ${type}`);
    const filters = this.#variables
      .map((name) => ({
        name,
        label: metric === SERVICE_INFO && name === 'service' ? 'name' : name,
      }))
      .filter(({ label }) => hasLabel(definition, label))
      .map(({ name, label }) => `${label}=~"$${name}"`);
    const matchers = [...filters, ...where].join(',');
    return `${metric}${suffix}${matchers === '' ? '' : `{${matchers}}`}`;
  }
}

/**
 * A part of a whole: 0 if the part has no series yet, and a gap while the whole is 0, because 0 / 0 is not a number.
 */
export function share(part: Query, whole: Query, legend: string): Query {
  return { expr: `(${part.expr} or ${whole.expr} * 0) / (${whole.expr} > 0)`, legend };
}

/** How far a value of each version is above that of its whole route; the labels of the whole are `of`. */
export function aboveWhole(part: Query, whole: Query, of: readonly string[]): Query {
  return {
    expr: `${part.expr} - on (${of.join(', ')}) group_left () (${whole.expr})`,
    legend: part.legend,
  };
}

/** What part of the whole each version is; the labels of the whole are `of`. */
export function partOfWhole(part: Query, whole: Query, of: readonly string[]): Query {
  return {
    expr: `${part.expr} / on (${of.join(', ')}) group_left () (${whole.expr} > 0)`,
    legend: part.legend,
  };
}

function grouped(by: readonly string[] = []): string {
  return by.length === 0 ? '' : ` by (${by.join(', ')})`;
}

function query(expr: string, { by = [], legend }: Selection): Query {
  return { expr, legend: legend ?? by.map((label) => `{{${label}}}`).join(' ') };
}
