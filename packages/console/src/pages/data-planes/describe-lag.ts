import { countedText } from '@gateway/client/measures';
import type { DataPlane } from '../../api/client.ts';
import { msText } from '../../ui/ms-text.ts';

type Served = DataPlane['environments'][number];

/** Why the newest version is not served, and what of the served one cannot be used. */
export function describeErrors(served: Served | undefined): string {
  if (served === undefined) return '';
  const list = describeUnusable(served);
  return [served.last_error, list && `cannot use ${list}`].filter(Boolean).join('; ');
}

/** What of the served version cannot be used, and why; empty: everything can. */
function describeUnusable({ unusable, unusable_count: count }: Served): string {
  const [first] = unusable;
  const others = count - (first === undefined ? 0 : 1);
  const what = first && `${first.kind} ${first.name ?? first.id}: ${first.reason}`;
  const parts = countedText(others, 'part');
  const more = others > 0 ? [what === undefined ? parts : `${parts} more`] : [];
  return [...(what === undefined ? [] : [what]), ...more].join('; ');
}

/** Which version a data plane serves, and how far behind it is. */
export function describeLag(served: Served | undefined): string {
  if (served === undefined) return 'not reported';
  const { version, versions_behind, seconds_behind } = served;
  if (version === null) return 'none yet';
  if (versions_behind === 0) return `version ${version}`;
  const since = seconds_behind === null ? '' : `, for ${msText(seconds_behind * 1000)}`;
  return `version ${version}, ${countedText(versions_behind, 'version')} behind${since}`;
}
