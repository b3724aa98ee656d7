import { Skeleton } from '@mantine/core';
import { lazyPart } from '../lazy-part.tsx';

/** Lines over time, with their values under the pointer. The library is large, so it is loaded with the first chart. */
export const Chart = lazyPart(
  'chart',
  async () => (await import('./drawn-chart.tsx')).DrawnChart,
  ({ height }) => <Skeleton height={height} />,
);
