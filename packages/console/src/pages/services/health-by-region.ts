import type { ServiceHealth } from '../../api/client.ts';

/** The upstreams of a service as the data planes of one region see them. */
export interface RegionCount {
  readonly region: string;
  /** Upstreams that every data plane of the region finds healthy. */
  readonly healthy: number;
  readonly total: number;
}

/** Counts the healthy upstreams for each region of data planes, by name. */
export function healthByRegion({ upstreams }: ServiceHealth): readonly RegionCount[] {
  const counts = new Map<string, { healthy: number; total: number }>();
  for (const { region, healthy, failing, unknown } of upstreams.flatMap((one) => one.regions)) {
    const count = counts.get(region) ?? { healthy: 0, total: 0 };
    count.total += 1;
    if (healthy > 0 && failing === 0 && unknown === 0) count.healthy += 1;
    counts.set(region, count);
  }
  return [...counts]
    .map(([region, count]) => ({ region, ...count }))
    .toSorted((a, b) => a.region.localeCompare(b.region));
}
