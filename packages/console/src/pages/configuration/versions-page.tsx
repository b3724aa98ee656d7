import { Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useTokenName } from '../../api/token-names.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { versionColumns } from './version-columns.tsx';
import { versionsQuery } from './versions-query.ts';

const route = getRouteApi('/app/configuration');

/** The versions of the configuration of the environment. */
export function VersionsPage() {
  const environment = useEnvironment();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(versionsQuery(environment, cursor));
  const nameOf = useTokenName();
  return (
    <Page title="Configuration">
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {(data !== undefined || error === null) && (
        <Paper withBorder>
          <DataTable
            label="Versions"
            columns={versionColumns(nameOf)}
            rows={data?.data}
            rowKey={({ version }) => String(version)}
            empty={
              <Empty title={`No version of ${environment} was published yet`}>
                Each change of a service, a route or a token makes one.
              </Empty>
            }
          />
        </Paper>
      )}
      <Pager
        cursor={cursor}
        nextCursor={data?.next_cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
