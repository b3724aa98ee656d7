import type { Answer, GatewayClient, operations } from '@gateway/client';
import { pageSize } from '../../../lookup/collect-items.ts';
import type { RequestRecord } from '../columns.ts';
import type { RecordQuery } from '../filters.ts';
import type { RecordsRead } from './follow-records.ts';

/** Reads records that match the filters and this query, newest first; at most `limit`. */
export type ReadRecords = (query: RecordQuery, limit?: number) => Promise<RecordsRead>;

type Page = operations['listRequests']['responses'][200]['content']['application/json'];

/**
 * @param filters of the command
 * @param nowMs for a response without a time
 */
export function readRecords(
  client: GatewayClient,
  filters: RecordQuery,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: () => number },
): ReadRecords {
  return async (query, limit = Number.POSITIVE_INFINITY) => {
    const records: RequestRecord[] = [];
    const minDurationMs = Math.max(filters.min_duration_ms ?? 0, query.min_duration_ms ?? 0);
    let cursor: string | null = null;
    let serverMs: number | undefined;
    do {
      const { body, headers }: Answer<Page> = await client.get('/v1/requests', {
        params: {
          query: {
            ...filters,
            ...query,
            ...(minDurationMs === 0 ? {} : { min_duration_ms: minDurationMs }),
            ...(cursor === null ? {} : { cursor }),
            limit: pageSize(limit),
          },
        },
        signal,
      });
      serverMs ??= Date.parse(headers.get('date') ?? '') || nowMs();
      records.push(...body.data);
      cursor = body.next_cursor;
    } while (cursor !== null && records.length < limit);
    return { records: records.slice(0, limit), serverMs };
  };
}
