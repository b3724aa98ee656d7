import { Alert, Button, Stack, Text } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { reachability } from '../api/client.ts';
import { isAway } from '../api/retry-reads.ts';
import { LoadError } from '../ui/load-error.tsx';
import { useDocumentTitle } from '../ui/document-title.ts';

/** Browsers word it differently; each means that a file of the console is not there any more. */
const STALE = /dynamically imported module|module script failed|importing a module/i;

/** In place of a page that failed. The navigation stays usable. */
export function PageError({ error, reset }: ErrorComponentProps) {
  useDocumentTitle('Error');
  const router = useRouter();
  useEffect(
    () =>
      reachability.subscribe(() => {
        if (!reachability.isAway() && isAway(error)) void router.invalidate();
      }),
    [error, router],
  );
  if (!(error instanceof Error && STALE.test(error.message)))
    return <LoadError error={error} onRetry={() => void router.invalidate().then(reset)} />;
  return (
    <Alert color="blue" title="The console was updated" role="alert">
      <Stack align="flex-start" gap="xs">
        <Text size="sm">This tab has the files of an older version.</Text>
        <Button size="xs" onClick={() => location.reload()}>
          Load the new version
        </Button>
      </Stack>
    </Alert>
  );
}
