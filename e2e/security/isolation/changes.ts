import type { Client } from '../../harness/client.ts';

/** The actions of all changes since this time, in alphabetical order, by request id. Each change has one audit event. */
export async function changesSince(
  admin: Client,
  sinceMs: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const changes = new Map<string, string[]>();
  const list = `/v1/audit-events?limit=200&since=${new Date(sinceMs).toISOString()}`;
  for (let path: string | undefined = list; path !== undefined;) {
    const { data, next_cursor } = (await admin.get(path)).page();
    for (const event of data) {
      const id = String(event['request_id']);
      changes.set(id, [...(changes.get(id) ?? []), String(event['action'])].sort());
    }
    path = next_cursor === null ? undefined : `${list}&cursor=${next_cursor}`;
  }
  return changes;
}
