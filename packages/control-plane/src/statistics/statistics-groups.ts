import { addedUp, MAX_GROUPS, sumsView, type Sums } from './statistics.ts';
import type { StatisticsGroup, StepSums } from './store/read-statistics.ts';

/** The sums of each step, oldest first, as the API shows them. */
export function stepsView(sums: readonly StepSums[]) {
  return [...Map.groupBy(sums, ({ atMs }) => atMs)].map(([atMs, counted]) => ({
    at: atMs,
    ...sumsView(addedUp(counted)),
  }));
}

/** The sums by version, class of status or service as the API shows them: those with the most requests first, and then by name. */
export function groupsView(sums: readonly StepSums[], by: StatisticsGroup, hasSteps: boolean) {
  const groups = [...Map.groupBy(sums, ({ group }) => group)].map(([value, counted]) => {
    return { value, counted, total: addedUp(counted) };
  });
  groups.sort((a, b) => byRequests(a.total, b.total) || compared(a.value, b.value));
  return groups.slice(0, MAX_GROUPS[by]).map(({ value, counted, total }) => ({
    value: value !== null && by === 'status_class' ? `${value}xx` : value,
    ...sumsView(total),
    steps: hasSteps ? stepsView(counted) : [],
  }));
}

const byRequests = (a: Sums, b: Sums) => b.requests - a.requests;

function compared(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1;
}
