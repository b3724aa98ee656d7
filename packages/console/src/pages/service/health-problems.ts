import type { HealthMatrix, UpstreamStatus } from './health-matrix.ts';

/** What data planes find wrong with an upstream. */
export interface HealthProblem {
  readonly url: string;
  readonly status: UpstreamStatus;
  /** What the data planes do about it; null: nothing. */
  readonly meaning: string | null;
  /** Why, if they say so. */
  readonly reason: string | null;
  /** Since when the first of them finds it so. */
  readonly since: string | null;
  readonly planes: readonly string[];
}

/** In the order in which problems stand. A healthy upstream stands here only if there is a reason to tell. */
const MEANINGS: Readonly<Record<UpstreamStatus, string | null>> = {
  ejected: 'It gets requests only while no other upstream is healthy.',
  half_open: 'It gets single requests.',
  unhealthy: 'It gets requests only while no other upstream is healthy.',
  unknown: null,
  healthy: null,
};
const STATUSES = Object.keys(MEANINGS) as readonly UpstreamStatus[];

/** Each state other than healthy, with the data planes that report it for the same reason. */
export function healthProblems({ planes, rows }: HealthMatrix): readonly HealthProblem[] {
  return rows.flatMap(({ upstream, seen }) => {
    const problems = new Map<string, HealthProblem>();
    seen.forEach((one, index) => {
      const plane = planes[index];
      if (one === undefined || plane === undefined) return;
      const { status, reason, since } = one;
      if (status === 'healthy' && reason === null) return;
      const key = `${status} ${reason ?? ''}`;
      const known = problems.get(key);
      problems.set(key, {
        url: upstream.url,
        status,
        meaning: MEANINGS[status],
        reason,
        since: earlier(known?.since ?? null, since),
        planes: [...(known?.planes ?? []), plane.id],
      });
    });
    return [...problems.values()].toSorted(
      (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
    );
  });
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
