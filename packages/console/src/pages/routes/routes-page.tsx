import { Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery } from '../../api/service-names.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { NoRoutes } from './no-routes.tsx';
import { routeColumns } from './route-columns.tsx';
import { RouteFilters } from './route-filters.tsx';
import { routesQuery } from './routes-query.ts';
import { withFilters } from './routes-search.ts';

const page = getRouteApi('/app/routes');

/** The routes of the environment, with search, filters and traffic. */
export function RoutesPage() {
  const environment = useEnvironment();
  const filters = page.useSearch();
  const navigate = page.useNavigate();
  const traffic = useScope('requests:read');
  const { data, error, refetch } = useQuery(routesQuery(environment, filters));
  // Without the scope `services:read` the list has ids in place of names.
  const { data: services = [] } = useQuery(serviceNamesQuery(environment));
  return (
    <Page
      title="Routes"
      actions={
        <ScopedButton scope="routes:write" onClick={() => void navigate({ to: '/routes/new' })}>
          New route
        </ScopedButton>
      }
    >
      <RouteFilters
        filters={filters}
        services={services}
        onChange={(change) =>
          void navigate({
            search: (now) => withFilters(now, change),
            replace: true,
          })
        }
      />
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {(data !== undefined || error === null) && (
        <Paper withBorder>
          <DataTable
            label="Routes"
            columns={routeColumns(services, traffic.allowed)}
            rows={data?.data}
            rowKey={({ id }) => id}
            empty={<NoRoutes environment={environment} filters={filters} />}
          />
        </Paper>
      )}
      <Pager
        cursor={filters.cursor}
        nextCursor={data?.next_cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
