import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { DashboardLinks } from '../../ui/external-links.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { versionColumns } from './version-columns.tsx';
import { versionsQuery } from './versions-query.ts';

const route = getRouteApi('/app/configuration');

/** The versions of the configuration of the environment. */
export function VersionsPage() {
  const environment = useEnvironment();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(versionsQuery(environment, cursor));
  const authors = (query.data?.data ?? []).flatMap(({ changed_by }) => changed_by);
  const nameOf = useNamesOfTokens(authors);
  return (
    <Page title="Configuration">
      <PagedTable
        label="Versions"
        columns={versionColumns(nameOf)}
        hasLinkedRows
        query={query}
        rowKey={({ version }) => String(version)}
        empty={
          <Empty title={`No version of ${environment} was published yet`}>
            Each change of a service, a route or a token makes one.
          </Empty>
        }
        cursor={cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
      <DashboardLinks dashboards={['configuration']} />
    </Page>
  );
}
