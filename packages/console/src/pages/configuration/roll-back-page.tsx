import { Alert, List, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { isOutdated } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { LastHour } from '../../ui/last-hour.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { notifyFailure, notifySuccess } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { Differences } from './differences.tsx';
import { rollBackText } from './roll-back-text.ts';
import { ROLL_BACK_RIGHT } from './roll-back-right.ts';
import { currentVersionQuery, rollBack } from './versions-query.ts';

const route = getRouteApi('/app/configuration/$version/roll-back');

/** Shows what a roll-back would change, and then does it. */
export function RollBackPage() {
  const version = Number(route.useParams().version);
  const environment = useEnvironment();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  // The current version whose difference the reader saw before the question.
  const [seen, setSeen] = useState<number>();
  const { data: current, error, refetch } = useQuery(currentVersionQuery(environment));

  async function restore(from: number): Promise<void> {
    try {
      notifySuccess(rollBackText(await rollBack(environment, version, from)));
    } catch (error) {
      if (!isOutdated(error)) throw error;
      notifyFailure(
        'The configuration was changed meanwhile. Nothing was rolled back. Look again.',
      );
      void refetch();
      return;
    }
    await navigate({ to: '/configuration' });
    void queryClient.invalidateQueries();
  }

  return (
    <Page
      title={`Roll back to version ${route.useParams().version}`}
      actions={
        current !== undefined && (
          <ScopedButton {...ROLL_BACK_RIGHT} color="red" onClick={() => setSeen(current)}>
            Roll back
          </ScopedButton>
        )
      }
    >
      <Alert color="yellow">
        <List size="sm">
          <List.Item>
            Services and routes of {environment} become as they were in version {version}, as a new
            version.
          </List.Item>
          <List.Item>Tokens stay as they are. A revoked token stays revoked.</List.Item>
          <List.Item>
            Old credentials come back, even one that was replaced because it leaked.
          </List.Item>
        </List>
      </Alert>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {current === undefined ? (
        error === null && <Skeleton height={120} />
      ) : (
        <>
          <Text>
            This would change, from the current version {current} to version {version}:
          </Text>
          <Differences environment={environment} from={current} to={version} />
        </>
      )}
      <ConfirmDialog
        opened={seen !== undefined}
        onClose={() => setSeen(undefined)}
        title={`Roll ${environment} back to version ${version}?`}
        name={environment}
        action="Roll back"
        onConfirm={() => (seen === undefined ? Promise.resolve() : restore(seen))}
      >
        <Stack gap="xs">
          <LastHour subject={`environment ${environment}`} filter={{ environment }} />
          <Text size="sm">Data planes serve the old services and routes within a second.</Text>
        </Stack>
      </ConfirmDialog>
    </Page>
  );
}
