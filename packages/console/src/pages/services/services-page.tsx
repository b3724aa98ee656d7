import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { Empty } from '../../ui/empty.tsx';
import { FacetBar } from '../../ui/facets/facet-bar.tsx';
import { Facet } from '../../ui/facets/facet.tsx';
import { NextStep } from '../../ui/next-step.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { TypedSearch } from '../../ui/typed-search.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { withFilters } from '../list-search.ts';
import { serviceColumns } from './service-columns.tsx';
import { servicesQuery, serviceTrafficQuery } from './services-query.ts';
import { SERVICE_STATES, type ServiceState } from './services-search.ts';

const route = getRouteApi('/app/services');

const STATE_LABELS: Readonly<Record<ServiceState, string>> = {
  failing: 'Not healthy',
  unhealthy: 'Unhealthy',
  degraded: 'Degraded',
  healthy: 'Healthy',
  unknown: 'Unknown',
};

/** The services of the environment, those that are not healthy first, with their traffic. */
export function ServicesPage() {
  const environment = useEnvironment();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(servicesQuery(environment, search));
  const { allowed } = useScope('requests:read');
  const traffic = useQuery({ ...serviceTrafficQuery(environment), enabled: allowed });
  const isFiltered = search.search !== undefined || search.status !== undefined;
  return (
    <Page
      title="Services"
      actions={
        <ScopedButton scope="services:write" onClick={() => void navigate({ to: '/services/new' })}>
          New service
        </ScopedButton>
      }
    >
      <FacetBar
        onClear={
          isFiltered
            ? () =>
                void navigate({
                  search: (now) => withFilters(now, { search: undefined, status: undefined }),
                })
            : undefined
        }
      >
        <TypedSearch
          label="Search by name or upstream"
          maxLength={255}
          search={search.search ?? ''}
          onSearch={(text) =>
            void navigate({
              search: (now) => withFilters(now, { search: text === '' ? undefined : text }),
              replace: true,
            })
          }
        />
        <Facet
          label="Status"
          choices={SERVICE_STATES.map((value) => ({ value, label: STATE_LABELS[value] }))}
          value={search.status}
          onChange={(value) =>
            void navigate({
              search: (now) =>
                withFilters(now, { status: SERVICE_STATES.find((one) => one === value) }),
            })
          }
        />
      </FacetBar>
      <PagedTable
        label="Services"
        hasLinkedRows
        columns={serviceColumns(traffic.data)}
        query={query}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No service matches">Change the search or the status.</Empty>
          ) : (
            <Empty title={`No services in ${environment}`}>
              A service is what the gateway forwards requests to.{' '}
              <NextStep scope="services:write" to="/services/new">
                Create the first service
              </NextStep>
            </Empty>
          )
        }
        cursor={search.cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
