import { Paper, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useNamesOfServices } from '../../api/service-names.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { NothingYet } from '../../ui/nothing-yet.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { PeriodControl } from './filters/period-control.tsx';
import { refusedFacets } from './filters/refused-facets.ts';
import { RequestFilters } from './filters/request-filters.tsx';
import { SavedViews } from './filters/saved-views.tsx';
import { FindRequest } from './find-request.tsx';
import { RequestHistogram } from './histogram/request-histogram.tsx';
import { FreshRequests } from './list/fresh-requests.tsx';
import { useFrozenList } from './list/frozen-list.ts';
import { useReading } from './list/live-pause.ts';
import { RequestDrawer } from './list/request-drawer.tsx';
import { RequestTable } from './list/request-table.tsx';
import { useCloseKey } from './list/close-key.ts';
import { NoRequests } from './no-requests.tsx';
import classes from './requests-page.module.css';
import { canFollow, isLive, requestsQuery } from './requests-query.ts';
import {
  withLive,
  withOpen,
  withRequestFilters,
  type FilterChange,
  type RequestsSearch,
} from './requests-search.ts';

const page = getRouteApi('/app/requests');

/** The requests of the environment, newest first. The first page follows what happens, unless somebody reads it. */
export function RequestsPage() {
  const environment = useEnvironment();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const live = isLive(search);
  const change = (to: FilterChange): void =>
    void navigate({ search: (now) => withRequestFilters(now, to), replace: true });
  return (
    <Page
      title="Requests"
      actions={
        <>
          <FindRequest />
          <SavedViews search={search} onView={(view) => void navigate({ search: view })} />
          <PeriodControl search={search} onChange={change} />
          <Switch
            label="Live"
            checked={live}
            disabled={!canFollow(search)}
            onChange={({ currentTarget: { checked } }) =>
              void navigate({ search: (now) => withLive(now, checked), replace: true })
            }
          />
        </>
      }
    >
      <RequestList environment={environment} search={search} onChange={change} />
    </Page>
  );
}

interface RequestListProps {
  readonly environment: string;
  readonly search: RequestsSearch;
  readonly onChange: (change: FilterChange) => void;
}

function RequestList({ environment, search, onChange }: RequestListProps) {
  const navigate = page.useNavigate();
  const query = useQuery(requestsQuery(environment, search));
  const { error, refetch, isPlaceholderData } = query;
  const { isReading, listeners } = useReading();
  const { open } = search;
  const frozen = isLive(search) && (isReading || open !== undefined);
  const key = JSON.stringify([environment, withOpen(search, undefined)]);
  // The rows of the filters before are no list to hold back.
  const latest = isPlaceholderData ? undefined : query.data;
  const { shown = query.data, fresh, release } = useFrozenList(key, latest, frozen);
  const ids = (shown?.data ?? []).map(({ id }) => id);
  const onOpen = (id: string | undefined): void =>
    void navigate({ search: (now) => withOpen(now, id), replace: true, resetScroll: false });
  useCloseKey(open !== undefined, () => onOpen(undefined));
  const tokenName = useNamesOfTokens((shown?.data ?? []).map(({ token_id }) => token_id));
  const serviceName = useNamesOfServices((shown?.data ?? []).map((one) => one.service_id));
  const isLast = shown === undefined || shown.next_cursor === null;
  return (
    <>
      <RequestFilters
        environment={environment}
        search={search}
        error={error}
        onChange={onChange}
        onClear={() =>
          void navigate({
            search: ({ period, since, until }) =>
              withRequestFilters({}, { ...(period === undefined ? { since, until } : { period }) }),
          })
        }
      />
      <RequestHistogram environment={environment} search={search} onChange={onChange} />
      {error !== null && refusedFacets(error).length === 0 && (
        <LoadError error={error} onRetry={() => void refetch()} />
      )}
      <div className={classes.split} data-open={open !== undefined || undefined}>
        {(shown !== undefined || error === null) && (
          <div className={classes.list} {...listeners}>
            <FreshRequests fresh={fresh} onShow={release} />
            <Paper withBorder className={classes.paper ?? ''}>
              <RequestTable
                rows={shown?.data}
                context={{ open, tokenName, serviceName }}
                empty={
                  isLast ? <NoRequests environment={environment} search={search} /> : <NothingYet />
                }
              />
            </Paper>
          </div>
        )}
        {open !== undefined && <RequestDrawer id={open} ids={ids} onOpen={onOpen} />}
      </div>
      <Pager
        cursor={search.cursor}
        nextCursor={shown?.next_cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </>
  );
}
