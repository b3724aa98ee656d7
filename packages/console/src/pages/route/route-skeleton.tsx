import { Skeleton, VisuallyHidden } from '@mantine/core';
import { ChartsSkeleton } from './overview/charts-skeleton.tsx';

/** In place of the name of a route. */
export function HeadingSkeleton() {
  return (
    <>
      <VisuallyHidden>Route</VisuallyHidden>
      <Skeleton component="span" display="block" height={20} width={180} />
    </>
  );
}

/** In place of a route while it is loaded: the way, the tabs, the numbers and the charts. */
export function RouteSkeleton() {
  return (
    <>
      <Skeleton height={16} width="40%" />
      <Skeleton height={36} />
      <Skeleton height={32} width={160} />
      <Skeleton height={86} />
      <ChartsSkeleton />
    </>
  );
}
