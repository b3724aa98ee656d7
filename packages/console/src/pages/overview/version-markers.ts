import { changedResourcesText } from '@gateway/client/version-text';
import { queryOptions } from '@tanstack/react-query';
import { gateway, type ConfigVersion } from '../../api/client.ts';
import { localTime } from '../../ui/time-text.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { ChartMarker } from '../../ui/time-chart/group-markers.ts';

/** More would be a line of them. */
const MAX_MARKERS = 50;
const NAMED = 2;

/** The newest versions of the configuration, as markers of charts. */
export function versionMarkersQuery(environment: string) {
  return queryOptions({
    // Begins as the list of versions does.
    queryKey: ['versions', environment, 'markers'],
    queryFn: async ({ signal }) => {
      const params = { path: { name: environment }, query: { limit: MAX_MARKERS } };
      const path = '/v1/environments/{name}/versions';
      const { data } = (await gateway.get(path, { params, signal })).body;
      return data.filter(({ former }) => !former).map(markerOf);
    },
    refetchInterval: 10_000,
  });
}

function markerOf(version: ConfigVersion): ChartMarker {
  const { version: number, published_at: at } = version;
  const changed = changedResourcesText(version, NAMED);
  const what = changed === '' ? '' : `: ${visibleText(changed)}`;
  return {
    atMs: Date.parse(at),
    of: { version: number },
    label: `Version ${number}${what}, ${localTime(at)}`,
  };
}
