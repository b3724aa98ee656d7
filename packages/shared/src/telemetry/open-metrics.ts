import type { Registry } from 'prom-client';

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The trace of one observation, which a bucket of a histogram shows. */
export interface Exemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly metricName?: string;
    readonly exemplar?: Exemplar | null;
  }[];
}

/** Whether a caller accepts OpenMetrics, as Prometheus does. */
export function acceptsOpenMetrics(accept: string | undefined): boolean {
  return accept?.includes('application/openmetrics-text') === true;
}

/**
 * The metrics of a registry in the format OpenMetrics, which has exemplars. Not by prom-client: to write this format, it
 * renames the counters of the registry for good.
 */
export async function openMetricsText(registry: Registry): Promise<string> {
  // The types of prom-client say that the type of a metric is a number; it is its name.
  const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
  return `${families.map(textOf).join('')}# EOF\n`;
}

function textOf({ name, help, type, values }: Family): string {
  // The family of a counter is named without `_total`. This format has no counters without that suffix.
  const isCounter = type === 'counter' && name.endsWith('_total');
  const family = isCounter ? name.slice(0, -'_total'.length) : name;
  const shown = type === 'counter' && !isCounter ? 'unknown' : type;
  const lines = values.map(({ metricName = name, labels, value, exemplar }) => {
    const line = `${metricName}${labelText(labels)} ${numberText(value)}`;
    if (exemplar === undefined || exemplar === null) return `${line}\n`;
    const { labelSet, value: observed, timestamp } = exemplar;
    return `${line} # ${labelText(labelSet)} ${numberText(observed)} ${timestamp.toFixed(3)}\n`;
  });
  return `# TYPE ${family} ${shown}\n# HELP ${family} ${escaped(help)}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(labels).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `{${given.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(',')}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
