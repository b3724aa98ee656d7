import type { components, GatewayClient } from '@gateway/client';
import { collectItems } from '../lookup/collect-items.ts';
import { alignedLines } from '../output/table.ts';

export type DataPlane = components['schemas']['DataPlane'];

/** The live data planes with what they serve of an environment. */
export async function liveDataPlanes(
  client: GatewayClient,
  environment: string,
  signal: AbortSignal,
): Promise<readonly DataPlane[]> {
  const params = { query: { environment, limit: 200 } };
  const all = await collectItems(client.list('/v1/data-planes', { params, signal }));
  return all.filter(({ stale }) => !stale);
}

/** A line for each data plane, such as `dp-1  eu-west  version 7 of 8`. */
export function dataPlaneLines(planes: readonly DataPlane[]): string[] {
  const rows = planes.map(({ id, region, environments: [served] }) => {
    const version = `version ${served?.version ?? 'none'} of ${served?.newest_version ?? 'none'}`;
    return [id, region, version, served?.last_error ?? ''];
  });
  return alignedLines(rows);
}
