import { Skeleton, Stack } from '@mantine/core';
import { CHARTS_HEIGHT } from '../../overview/traffic-charts.tsx';

/** In place of two charts that stand below each other. */
export function ChartsSkeleton() {
  return (
    <Stack gap="md">
      <Skeleton height={CHARTS_HEIGHT} />
      <Skeleton height={CHARTS_HEIGHT} />
    </Stack>
  );
}
