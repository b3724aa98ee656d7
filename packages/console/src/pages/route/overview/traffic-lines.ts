import type { Statistics } from '../../../api/client.ts';
import type { ChartColor, ChartLine } from '../../../ui/chart/chart-options.ts';

type Group = Statistics['groups'][number];
type Step = Group['steps'][number];

/** The steps of a period, ms since the Unix epoch; the first one may begin before it. */
export function stepTimes(
  { from, to }: Pick<Statistics, 'from' | 'to'>,
  stepSeconds: number,
): number[] {
  const stepMs = stepSeconds * 1000;
  const toMs = Date.parse(to);
  const times: number[] = [];
  for (let at = Math.floor(Date.parse(from) / stepMs) * stepMs; at < toMs; at += stepMs) {
    times.push(at);
  }
  return times;
}

/** The classes of statuses, those that are looked for at the top of the bars. */
const CLASSES: readonly (readonly [value: string | null, name: string, color: ChartColor])[] = [
  ['5xx', '5xx', 'failed'],
  ['4xx', '4xx', 'refused'],
  [null, 'no answer', 'other'],
  ['3xx', '3xx', 'redirected'],
  ['1xx', '1xx', 'redirected'],
  ['2xx', '2xx', 'answered'],
];

/** The requests of each class of status that there was, by step. */
export function classLines(groups: Statistics['groups'], times: readonly number[]): ChartLine[] {
  return CLASSES.flatMap(([value, name, color]) => {
    const group = groups.find((one) => one.value === value);
    if (group === undefined) return [];
    return [{ name, color, values: valuesAt(group.steps, times, (step) => step?.requests ?? 0) }];
  });
}

/** The colours of versions, in their order. */
const VERSION_COLORS = ['main', 'second', 'third', 'fourth', 'fifth'] as const;

/** A line for each version. */
export function versionLines(
  groups: Statistics['groups'],
  versions: readonly string[],
  times: readonly number[],
  valueOf: (step: Step | undefined) => number | null,
): ChartLine[] {
  return versions.map((name, index) => {
    const steps = groups.find((one) => one.value === name)?.steps ?? [];
    const color = VERSION_COLORS[Math.min(index, VERSION_COLORS.length - 1)] ?? 'main';
    return { name, color, values: valuesAt(steps, times, valueOf) };
  });
}

/** The percentiles of the durations by step; gaps where there are no requests. */
export function durationLines(steps: Statistics['steps'], times: readonly number[]): ChartLine[] {
  const line = (name: 'p50' | 'p95' | 'p99', color: ChartColor): ChartLine => ({
    name,
    color,
    values: valuesAt(steps, times, (step) => step?.[`${name}_ms`] ?? null),
  });
  return [line('p50', 'main'), line('p95', 'second'), line('p99', 'third')];
}

function valuesAt(
  steps: readonly Step[],
  times: readonly number[],
  valueOf: (step: Step | undefined) => number | null,
): (number | null)[] {
  const byTime = new Map(steps.map((step) => [Date.parse(step.at), step]));
  return times.map((at) => valueOf(byTime.get(at)));
}
