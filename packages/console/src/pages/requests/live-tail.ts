import type { RequestList, RequestRecord } from '../../api/client.ts';

/** A live list with more rows than this is read again, so that the page does not grow without end. */
const MAX_ROWS = 150;

/**
 * A list with the records that came since it was read.
 *
 * @param fresh the newest records, of which some may be in the list
 * @returns undefined if there may be records between the two, or if there are too many rows
 */
export function withNewest(list: RequestList, fresh: RequestList): RequestList | undefined {
  if (fresh.next_cursor !== null) return undefined;
  const known = new Set(list.data.map(({ id }) => id));
  // What is older than the last row belongs to the next page, if there is one.
  const oldest = list.next_cursor === null ? '' : (list.data.at(-1)?.id ?? '');
  const added = fresh.data.filter(({ id }) => !known.has(id) && id > oldest);
  if (added.length === 0) return list;
  if (added.length + list.data.length > MAX_ROWS) return undefined;
  const data = [...added, ...list.data].toSorted(newestFirst);
  return { ...list, data };
}

function newestFirst(a: RequestRecord, b: RequestRecord): number {
  return a.id < b.id ? 1 : -1;
}
