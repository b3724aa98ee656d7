import type { HealthMatrix, UpstreamStatus } from './health-matrix.ts';

/** What data planes find wrong with an upstream. */
export interface HealthProblem {
  readonly url: string;
  readonly status: UpstreamStatus;
  /** What it means, and what the data planes do about it. */
  readonly meaning: string;
  readonly planes: readonly string[];
}

const MEANINGS: readonly (readonly [UpstreamStatus, string])[] = [
  ['ejected', 'ejected, because requests to it failed; it gets none for a while'],
  ['half_open', 'on trial after an ejection; it gets single requests'],
  ['unhealthy', 'unhealthy, because its health checks fail; it gets no requests'],
  ['unknown', 'not checked yet'],
];

/** Each state other than healthy, with the data planes that report it. */
export function healthProblems({ planes, rows }: HealthMatrix): readonly HealthProblem[] {
  return rows.flatMap(({ upstream, statuses }) =>
    MEANINGS.flatMap(([status, meaning]) => {
      const reporting = planes.filter((_plane, index) => statuses[index] === status);
      if (reporting.length === 0) return [];
      return [{ url: upstream.url, status, meaning, planes: reporting.map(({ id }) => id) }];
    }),
  );
}
