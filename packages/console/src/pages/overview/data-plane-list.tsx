import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, type DataPlane } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { describeLag } from '../data-planes/describe-lag.ts';
import { Note, Panel, PanelContent } from './panel.tsx';
import { Rows } from './rows.tsx';

const MAX_SHOWN = 8;

function dataPlanesQuery(environment: string) {
  return queryOptions({
    queryKey: ['data-planes', environment, 'overview'],
    queryFn: async ({ signal }) => {
      const query = { environment, limit: 200 };
      const { data } = (await gateway.get('/v1/data-planes', { params: { query }, signal })).body;
      const behind = (one: DataPlane) => servedOf(one, environment)?.versions_behind ?? 0;
      const rank = (one: DataPlane) => (one.stale ? Infinity : behind(one));
      return data.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
    },
    refetchInterval: 3000,
  });
}

function servedOf({ environments }: DataPlane, environment: string) {
  return environments.find((one) => one.environment === environment);
}

/** The data planes with the configuration that each serves, those that need attention first. */
export function DataPlaneList({ environment }: { readonly environment: string }) {
  const { allowed } = useScope('config:read');
  const query = useQuery({ ...dataPlanesQuery(environment), enabled: allowed });
  return (
    <Panel
      title="Data planes"
      more={
        <TextLink to="/data-planes" size="sm" aria-label="All data planes">
          All
        </TextLink>
      }
    >
      <PanelContent scope="config:read" query={query}>
        {(planes) =>
          planes.length === 0 ? (
            <Note>No data plane has sent a heartbeat.</Note>
          ) : (
            <>
              <Rows items={planes.slice(0, MAX_SHOWN)} itemKey={({ id }) => id}>
                {(one) => [
                  <>
                    {one.id} <StatusBadge status={one.stale ? 'stale' : 'live'} />
                  </>,
                  describeLag(servedOf(one, environment)),
                ]}
              </Rows>
              {planes.length > MAX_SHOWN && (
                <Note>and {(planes.length - MAX_SHOWN).toLocaleString()} more</Note>
              )}
            </>
          )
        }
      </PanelContent>
    </Panel>
  );
}
