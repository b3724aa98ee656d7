import { eventually } from '@gateway/shared/test/eventually';
import type { Client } from '../../harness/client.ts';

/** Which requests have a record. */
export interface RecordCount {
  /** Ids without a record. */
  readonly missing: readonly string[];
  /** Ids with more than one record. */
  readonly doubled: readonly string[];
}

const POLL_MS = 250;

/**
 * Reads the list of records until each id has one, or the deadline passes.
 *
 * @param management calls a control plane
 * @param sinceMs older records are ignored; ms since the Unix epoch
 * @param dropped ids that never get a record; the reading ends when all others have one
 */
export async function countRecords(
  management: Client,
  ids: readonly string[],
  sinceMs: number,
  deadlineMs: number,
  dropped = 0,
): Promise<RecordCount> {
  const since = encodeURIComponent(new Date(sinceMs).toISOString());
  let count: RecordCount = { missing: ids, doubled: [] };
  const look = async () => {
    const times = await timesListed(management, since);
    count = {
      missing: ids.filter((id) => !times.has(id)),
      doubled: ids.filter((id) => (times.get(id) ?? 0) > 1),
    };
    if (count.missing.length > dropped) throw new Error('records are missing');
  };
  // Ids that are still missing are the result.
  await eventually(look, { deadlineMs, intervalMs: POLL_MS }).catch(() => undefined);
  return count;
}

async function timesListed(management: Client, since: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (let cursor: string | null = ''; cursor !== null;) {
    const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await management.get(`/v1/requests?limit=200&since=${since}${at}`);
    if (answer.status !== 200) throw new Error(`the list of records: ${answer.status}`);
    const { data, next_cursor: next } = answer.page();
    for (const { id } of data) times.set(id, (times.get(id) ?? 0) + 1);
    cursor = next;
  }
  return times;
}
