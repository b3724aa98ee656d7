import type { components, GatewayClient } from '@gateway/client';
import { collectItems } from '../lookup/collect-items.ts';
import { alignedLines } from '../output/table.ts';

export type DataPlane = components['schemas']['DataPlane'];

/** The data planes with what they serve of an environment. Stale ones send no heartbeats, and nothing waits for them. */
export async function listDataPlanes(
  client: GatewayClient,
  environment: string,
  signal: AbortSignal,
): Promise<readonly DataPlane[]> {
  const params = { query: { environment, limit: 200 } };
  return await collectItems(client.list('/v1/data-planes', { params, signal }));
}

/** A line for each data plane, such as `dp-1  eu-west  version 7 of 8`. */
export function dataPlaneLines(planes: readonly DataPlane[]): string[] {
  const rows = planes.map(({ id, region, stale, last_seen_at, environments: [served] }) => {
    const version = `version ${served?.version ?? 'none'} of ${served?.newest_version ?? 'none'}`;
    const remark = stale
      ? `stale since ${last_seen_at}`
      : [served?.last_error, ...unusableLines(served)].filter(Boolean).join('; ');
    return [id, region, version, remark];
  });
  return alignedLines(rows);
}

/** What a data plane cannot use of an environment, such as `cannot use route charges: auth.type Invalid input`. */
export function unusableLines(served: DataPlane['environments'][number] | undefined): string[] {
  if (served === undefined) return [];
  const { unusable, unusable_count: count } = served;
  const lines = unusable.map(
    ({ kind, id, name, reason }) => `cannot use ${kind} ${name ?? id}: ${reason}`,
  );
  const left = count - unusable.length;
  return left > 0
    ? [...lines, `cannot use ${left} ${lines.length > 0 ? 'more ' : ''}parts`]
    : lines;
}
