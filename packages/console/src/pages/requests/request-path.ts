import type { RequestRecord } from '../../api/client.ts';
import { visibleText } from '../../ui/visible-text.ts';

type Addressed = Pick<RequestRecord, 'path' | 'route' | 'match'>;

/** More is cut in headings and lists. */
const TITLE_CHARS = 96;

/** The part of the path that is the caller's own: without `/v1/proxy/NAME`, which the route says. At least `/`. */
export function ownPath({ path, route, match }: Addressed): string {
  const prefix = `/v1/proxy/${route ?? ''}`;
  if (route === null || match !== null || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  if (rest === '') return '/';
  // Another route may have a name that begins like this one.
  return rest.startsWith('/') ? rest : path;
}

type Named = Addressed & Pick<RequestRecord, 'status' | 'method'>;

/** What the page of a request is called: `503 POST /orders/2113`. */
export function requestTitle(record: Named): string {
  return `${record.status ?? 'No status'} ${withoutStatus(record)}`;
}

/** The same without the status. */
export function withoutStatus(record: Omit<Named, 'status'>): string {
  const path = ownPath(record);
  const shown = path.length <= TITLE_CHARS ? path : `${path.slice(0, TITLE_CHARS)}…`;
  return visibleText(`${record.method} ${shown}`);
}
