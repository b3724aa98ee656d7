import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery, useNamesOfServices } from '../../api/service-names.ts';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { NoRoutes } from './no-routes.tsx';
import { routeColumns } from './route-columns.tsx';
import { RouteFilters } from './route-filters.tsx';
import { routesQuery, trafficOfRoutesQuery } from './routes-query.ts';
import type { FilterChange, RouteOrder } from './routes-search.ts';
import { withFilters } from '../list-search.ts';
import { servicesOf } from './services-of.ts';

const page = getRouteApi('/app/routes');

/** The routes of the environment, with search, filters and traffic. */
export function RoutesPage() {
  const environment = useEnvironment();
  const filters = page.useSearch();
  const navigate = page.useNavigate();
  const traffic = useScope('requests:read');
  const query = useQuery(routesQuery(environment, filters));
  const { data: services = [] } = useQuery(serviceNamesQuery(environment));
  // Without the scope `services:read` the list has ids in place of names.
  const nameOf = useNamesOfServices((query.data?.data ?? []).flatMap(servicesOf));
  const names = (query.data?.data ?? []).map(({ name }) => name);
  const { data: counted } = useQuery({
    ...trafficOfRoutesQuery(environment, names),
    enabled: traffic.allowed && names.length > 0,
  });
  const onFilter = (change: FilterChange): void =>
    void navigate({ search: (now) => withFilters(now, change), replace: true });
  return (
    <Page
      title="Routes"
      actions={
        <ScopedButton scope="routes:write" onClick={() => void navigate({ to: '/routes/new' })}>
          New route
        </ScopedButton>
      }
    >
      <RouteFilters filters={filters} services={services} onChange={onFilter} />
      <PagedTable
        label="Routes"
        columns={routeColumns(nameOf, traffic.allowed ? counted : null)}
        hasLinkedRows
        order={filters.order ?? 'name'}
        onOrder={(order) => onFilter({ order: order as RouteOrder })}
        query={query}
        rowKey={({ id }) => id}
        empty={<NoRoutes environment={environment} filters={filters} />}
        cursor={filters.cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
