import type { Statistics } from '../../api/client.ts';
import type { ChartTone } from '../../ui/time-chart/chart-series.ts';

/** How requests ended, by the class of the status, with 429 on its own; `none`: the caller left before a response. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '429', '5xx', 'none'] as const;

export type StatusClass = (typeof STATUS_CLASSES)[number];

/** How many requests ended like this. */
export type StatusCounts = Readonly<Record<StatusClass, number>>;

export const CLASS_TONES: Readonly<Record<StatusClass, ChartTone>> = {
  '2xx': 'good',
  '3xx': 'plain',
  '4xx': 'warn',
  '429': 'limit',
  '5xx': 'bad',
  none: 'gone',
};

export const CLASS_NAMES: Readonly<Record<StatusClass, string>> = {
  '2xx': '2xx',
  '3xx': '3xx',
  '4xx': '4xx',
  '429': '429',
  '5xx': '5xx',
  none: 'no response',
};

export const NO_COUNTS: StatusCounts = {
  '2xx': 0,
  '3xx': 0,
  '4xx': 0,
  '429': 0,
  '5xx': 0,
  none: 0,
};

type Group = Pick<Statistics['groups'][number], 'value' | 'requests'>;

/** Counts by class. A 1xx is the last status of a connection that became a WebSocket: it stands with 2xx. */
export function statusCounts(groups: readonly Group[]): StatusCounts {
  const counts = { ...NO_COUNTS };
  for (const { value, requests } of groups) counts[classOf(value)] += requests;
  return counts;
}

function classOf(value: string | null): StatusClass {
  if (value === null) return 'none';
  return STATUS_CLASSES.find((one) => one === value) ?? '2xx';
}

/** The counts of each step by when it begins, ms since the Unix epoch. */
export function countsByStep(groups: Statistics['groups']): ReadonlyMap<number, StatusCounts> {
  const steps = groups.flatMap(({ value, steps: its }) =>
    its.map(({ at, requests }) => ({ at: Date.parse(at), value, requests })),
  );
  return new Map(
    [...Map.groupBy(steps, ({ at }) => at)].map(([at, counted]) => [at, statusCounts(counted)]),
  );
}
