import type { DataPlane } from '../../api/client.ts';

/** What the data planes do, and whether somebody should look at them. */
interface DataPlanesText {
  readonly text: string;
  readonly isBad: boolean;
}

/** The data planes in a few words, such as `2 live, all on v223` or `3 live, 1 behind v223, 1 stale`. */
export function dataPlanesText(planes: readonly DataPlane[], environment: string): DataPlanesText {
  const live = planes.filter(({ stale }) => !stale);
  const stale = planes.length - live.length;
  if (planes.length === 0) return { text: 'none has sent a heartbeat', isBad: true };
  const served = live.flatMap((plane) =>
    plane.environments.filter((one) => one.environment === environment),
  );
  const newest = Math.max(0, ...served.map(({ newest_version }) => newest_version));
  const behind = served.filter(({ versions_behind }) => versions_behind > 0).length;
  const unusable = served.filter(({ unusable_count }) => unusable_count > 0).length;
  const parts = [
    `${live.length.toLocaleString('en')} live`,
    ...(newest === 0 || live.length === 0
      ? []
      : [
          behind === 0
            ? `${live.length === 1 ? '' : 'all '}on v${newest}`
            : `${behind} behind v${newest}`,
        ]),
    ...(unusable === 0 ? [] : [`${unusable} cannot use all of it`]),
    ...(stale === 0 ? [] : [`${stale.toLocaleString('en')} stale`]),
  ];
  const isBad = live.length === 0 || behind + unusable + stale > 0;
  return { text: parts.join(', '), isBad };
}
