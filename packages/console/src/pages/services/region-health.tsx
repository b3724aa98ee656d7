import { Group, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { serviceHealthQuery } from './services-query.ts';
import { healthByRegion } from './health-by-region.ts';
import classes from './region-health.module.css';

/** How many upstreams of a service each region's data planes find healthy. */
export function RegionHealth({ serviceId }: { readonly serviceId: string }) {
  const { data, isPending } = useQuery(serviceHealthQuery(serviceId));
  if (isPending) return <Skeleton height={16} width={80} />;
  const regions = data === undefined ? [] : healthByRegion(data);
  if (regions.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        no report
      </Text>
    );
  }
  return (
    <Group gap="0 16px" wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
      {regions.map(({ region, healthy, total }) => (
        <Text key={region} size="sm" c="dimmed">
          <span className={classes.region} title={region}>
            {region}
          </span>{' '}
          <Text span inherit c={healthy < total ? 'var(--bad)' : 'var(--text)'}>
            {healthy}/{total}
          </Text>
        </Text>
      ))}
    </Group>
  );
}
