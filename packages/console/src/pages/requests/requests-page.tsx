import { Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { FindRequest } from './find-request.tsx';
import { NoRequests } from './no-requests.tsx';
import { RequestFilters } from './request-filters.tsx';
import { requestColumns } from './request-columns.tsx';
import { canFollow, isLive, requestsQuery } from './requests-query.ts';
import { withLive, withRequestFilters } from './requests-search.ts';

const page = getRouteApi('/app/requests');

/** The requests of the environment, newest first. The first page follows what happens. */
export function RequestsPage() {
  const environment = useEnvironment();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const query = useQuery(requestsQuery(environment, search));
  return (
    <Page
      title="Requests"
      actions={
        <>
          <FindRequest />
          <Switch
            label="Live"
            checked={isLive(search)}
            disabled={!canFollow(search)}
            onChange={({ currentTarget: { checked } }) =>
              void navigate({ search: (now) => withLive(now, checked), replace: true })
            }
          />
        </>
      }
    >
      <RequestFilters
        search={search}
        error={query.error}
        onChange={(change) =>
          void navigate({ search: (now) => withRequestFilters(now, change), replace: true })
        }
        onClear={() => void navigate({ search: {} })}
      />
      <PagedTable
        label="Requests"
        columns={requestColumns}
        query={query}
        rowKey={({ id }) => id}
        empty={<NoRequests environment={environment} search={search} />}
        cursor={search.cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
