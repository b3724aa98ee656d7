const MINUTE_MS = 60_000;

interface Minutes {
  readonly from: string;
  readonly to: string;
  readonly steps: readonly {
    readonly at: string;
    readonly requests: number;
    readonly errors: number;
  }[];
}

/** The requests and errors of each minute of the period; 0 in minutes that the statistics leave out. */
export function minuteCounts({ from, to, steps }: Minutes): {
  readonly requests: readonly number[];
  readonly errors: readonly number[];
} {
  const fromMs = Date.parse(from);
  const minutes = Math.max(0, Math.round((Date.parse(to) - fromMs) / MINUTE_MS));
  const requests = Array.from({ length: minutes }, () => 0);
  const errors = Array.from({ length: minutes }, () => 0);
  for (const step of steps) {
    const index = Math.floor((Date.parse(step.at) - fromMs) / MINUTE_MS);
    if (index < 0 || index >= minutes) continue;
    requests[index] = step.requests;
    errors[index] = step.errors;
  }
  return { requests, errors };
}
