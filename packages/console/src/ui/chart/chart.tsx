import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { ChartProps } from './drawn-chart.tsx';

/** The library for charts is large, so it is loaded with the first chart. */
const DrawnChart = lazy(async () => ({ default: (await import('./drawn-chart.tsx')).DrawnChart }));

/** Lines over time, with their values under the pointer. */
export function Chart(props: ChartProps) {
  return (
    <Suspense fallback={<Skeleton height={props.height} />}>
      <DrawnChart {...props} />
    </Suspense>
  );
}
