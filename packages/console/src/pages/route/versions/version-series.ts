import type { Statistics } from '../../../api/client.ts';
import type { ChartSeries } from '../../../ui/time-chart/chart-series.ts';
import type { TimeRange } from '../../../ui/time-chart/time-scale.ts';

type Group = Statistics['groups'][number];
type Step = Group['steps'][number];

/** The tones of versions, in their order. More cannot be told apart. */
const VERSION_TONES = ['second', 'third', 'fourth', 'fifth', 'plain'] as const;

/** The period of a chart, and its steps. */
export interface ChartSteps {
  readonly range: TimeRange;
  readonly steps: readonly TimeRange[];
}

/** The whole steps of a period, also those without requests, up to now. */
export function stepsOf(
  { from, to }: Pick<Statistics, 'from' | 'to'>,
  stepSeconds: number,
  nowMs: number,
): ChartSteps {
  const stepMs = stepSeconds * 1000;
  const fromMs = Date.parse(from);
  const toMs = Math.min(Date.parse(to), Math.max(nowMs, fromMs + 1000));
  const steps: TimeRange[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) {
    steps.push({ fromMs: Math.max(at, fromMs), toMs: Math.min(at + stepMs, toMs) });
  }
  return { range: { fromMs, toMs }, steps };
}

/** A line for each of the first versions; gaps where it has no requests. */
export function versionSeries(
  groups: Statistics['groups'],
  versions: readonly string[],
  steps: readonly TimeRange[],
  valueOf: (step: Step) => number | null,
): readonly ChartSeries[] {
  return VERSION_TONES.flatMap((tone, index) => {
    const name = versions[index];
    if (name === undefined) return [];
    const counted = groups.find(({ value }) => value === name)?.steps ?? [];
    const byTime = new Map(counted.map((step) => [Date.parse(step.at), step]));
    const values = steps.map(({ fromMs }) => {
      const step = byTime.get(fromMs);
      return step === undefined ? null : valueOf(step);
    });
    return [{ key: name, name, tone, values }];
  });
}
