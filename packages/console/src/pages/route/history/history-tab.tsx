import { Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Route } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { useNamesOfTokens } from '../../../api/token-names.ts';
import { ChangeTable } from '../../../ui/changes/change-table.tsx';
import { NotPermitted } from '../../../ui/not-permitted.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { LoadError } from '../../../ui/load-error.tsx';
import { routeChangesQuery } from '../changes-query.ts';

const page = getRouteApi('/app/routes/$routeId');

/** Who changed the route and when, what that changed, and a way back. */
export function HistoryTab({ route }: { readonly route: Route }) {
  const { allowed, reason } = useScope('audit:read');
  const { change } = page.useSearch();
  const query = useInfiniteQuery({ ...routeChangesQuery(route), enabled: allowed });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const events = data?.pages.flatMap((one) => one.data);
  const nameOf = useNamesOfTokens((events ?? []).map((event) => event.token_id));
  if (!allowed) return <NotPermitted reason={reason} />;
  if (events?.length === 0 && !hasNextPage) {
    return <Empty title="No changes">Changes of the last 400 days are shown here.</Empty>;
  }
  return (
    <Stack gap="sm">
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <Text c="dimmed">
        The last change can be reverted alone. To go further back, revert one after the other, or
        roll the environment back.
      </Text>
      <ChangeTable
        label={`Changes of ${route.name}`}
        events={events}
        personOf={nameOf}
        openId={change}
      />
      {hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Show older changes
          </Button>
        </Group>
      )}
    </Stack>
  );
}
