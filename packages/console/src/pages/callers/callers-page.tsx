import { Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CallerStatistics } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { countedText } from '@gateway/client/measures';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { LocalTime } from '../../ui/relative-time.tsx';
import { callerColumns, callerKey } from './caller-columns.tsx';
import { callersQuery } from './callers-query.ts';
import {
  callersSearch,
  DEFAULT_ORDER,
  DEFAULT_PERIOD,
  PERIODS,
  type CallersSearch,
} from './callers-search.ts';

const page = getRouteApi('/app/callers');

/** Who sends the requests of the environment, whose requests fail, and who is near a quota. */
export function CallersPage() {
  const environment = useEnvironment();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const options = callersQuery(environment, search);
  const query = useQuery({ ...options, placeholderData: keepPreviousData });
  const { data, error, refetch } = query;
  const nameOf = useNamesOfTokens((data?.callers ?? []).map(({ token_id }) => token_id));
  const show = (change: CallersSearch | Record<string, string>): void =>
    void navigate({ search: (now) => callersSearch({ ...now, ...change }), replace: true });
  const { period = DEFAULT_PERIOD, order = DEFAULT_ORDER, route } = search;
  return (
    <Page
      title={route === undefined ? 'Callers' : `Callers of ${route}`}
      actions={
        <SegmentedControl
          aria-label="Period"
          data={Object.entries(PERIODS).map(([value, { label }]) => ({ value, label }))}
          value={period}
          onChange={(value) => show({ period: value })}
        />
      }
    >
      <Stack gap="sm">
        {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
        {(data !== undefined || error === null) && (
          <Paper withBorder>
            <DataTable
              label="Callers"
              hasLinkedRows
              // The API has the largest first, whichever column it is.
              order={`-${order}`}
              onOrder={(to) => show({ order: to.replace(/^-/, '') })}
              columns={callerColumns(nameOf, route)}
              rows={data?.callers}
              rowKey={callerKey}
              empty={
                <Empty title="No requests">
                  Nobody sent a request to {environment} in this time.
                </Empty>
              }
            />
          </Paper>
        )}
        {data !== undefined && <Counted data={data} />}
      </Stack>
    </Page>
  );
}

/** What was counted, if there are more requests than are counted in a moment. */
function Counted({ data }: { readonly data: CallerStatistics }) {
  if (data.counted_from === data.from || data.requests === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      Counted are the newest {countedText(data.requests, 'request')}, since{' '}
      <LocalTime at={data.counted_from} />. For a longer time choose a route.
    </Text>
  );
}
