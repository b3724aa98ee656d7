import type { DataPlane } from '../../api/client.ts';

/** Which version a data plane serves, and how far behind it is. */
export function describeLag(served: DataPlane['environments'][number] | undefined): string {
  if (served === undefined) return 'not reported';
  const { version, versions_behind, seconds_behind } = served;
  if (version === null) return 'none yet';
  if (versions_behind === 0) return `version ${version}`;
  const since = seconds_behind === null ? '' : `, for ${seconds_behind} s`;
  const versions = versions_behind === 1 ? '1 version' : `${versions_behind} versions`;
  return `version ${version}, ${versions} behind${since}`;
}
