import { Stack, Text } from '@mantine/core';
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { gateway } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { LastHour } from '../../ui/last-hour.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { environmentColumns } from './environment-columns.tsx';
import { NewEnvironment } from './new-environment.tsx';

const route = getRouteApi('/app/environments');

function environmentListQuery(cursor: string | undefined) {
  return queryOptions({
    // Begins as the choice in the header does, so that a change refreshes both.
    queryKey: ['environments', 'list', cursor],
    queryFn: async ({ signal }) => {
      const query = { counts: 'true' as const, ...(cursor === undefined ? {} : { cursor }) };
      return (await gateway.get('/v1/environments', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}

/** The environments that the token covers. */
export function EnvironmentsPage() {
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const shown = useEnvironment();
  const query = useQuery(environmentListQuery(cursor));
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<string>();

  async function remove(name: string): Promise<void> {
    await gateway.delete('/v1/environments/{name}', { params: { path: { name } } });
    notifySuccess(`Environment ${name} was deleted.`);
    void queryClient.invalidateQueries({ queryKey: ['environments'] });
    // The pages must not go on showing it.
    const other = query.data?.data.find((one) => one.name !== name);
    if (name === shown && other !== undefined) {
      await navigate({ search: { environment: other.name } });
    }
  }

  return (
    <Page
      title="Environments"
      actions={
        <ScopedButton scope="config:write" allEnvironments onClick={() => setCreating(true)}>
          New environment
        </ScopedButton>
      }
    >
      <PagedTable
        label="Environments"
        hasLinkedRows
        columns={environmentColumns(setDeleting)}
        query={query}
        rowKey={({ name }) => name}
        empty={
          <Empty title="No environments">
            An environment has its own services, routes and configuration.
          </Empty>
        }
        cursor={cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
      {isCreating && <NewEnvironment onClose={() => setCreating(false)} />}
      {deleting !== undefined && (
        <ConfirmDialog
          opened
          onClose={() => setDeleting(undefined)}
          title={`Delete environment ${deleting}?`}
          name={deleting}
          action="Delete"
          onConfirm={() => remove(deleting)}
        >
          <Stack gap="xs">
            <LastHour subject={`environment ${deleting}`} filter={{ environment: deleting }} />
            <Text size="sm">
              Only an environment without services, routes and tokens of its own can be deleted.
            </Text>
          </Stack>
        </ConfirmDialog>
      )}
    </Page>
  );
}
