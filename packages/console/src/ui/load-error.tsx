import { ApiError } from '@gateway/client';
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { CircleX } from 'lucide-react';
import { OutdatedTab } from '../api/load-file.ts';
import { Empty } from './empty.tsx';
import { CopyChip } from './copy-chip.tsx';
import { errorText, requestIdOf } from './error-text.ts';

interface LoadErrorProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** Whether it stands in a part of a page, in a line. */
  readonly isPart?: boolean;
}

/** What could not be loaded, with the id of the call, and a button that tries again. */
export function LoadError({ error, onRetry, isPart = false }: LoadErrorProps) {
  if (error instanceof OutdatedTab) return <UpdatedNotice />;
  if (error instanceof ApiError && error.status === 404) return <Missing reason={error.message} />;
  const requestId = requestIdOf(error);
  if (isPart) return <PartError error={error} onRetry={onRetry} />;
  return (
    <Alert
      color="red"
      icon={<CircleX size={16} aria-hidden />}
      title="This could not be loaded"
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{errorText(error)}</Text>
        <Group gap="md">
          {onRetry !== undefined && (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {requestId !== undefined && (
            <CopyChip text={requestId} what="the id of the call" isPlain />
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** The page is not lost for one of its parts. */
function PartError({ error, onRetry }: Omit<LoadErrorProps, 'isPart'>) {
  return (
    <Group gap="xs" role="alert" mih="var(--row-height)" title={errorText(error)}>
      <Text size="sm" c="var(--bad)">
        This could not be loaded.
      </Text>
      {onRetry !== undefined && (
        <Button size="compact-xs" variant="subtle" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Group>
  );
}

/** Another try would not help, and nothing is broken. */
function Missing({ reason }: { readonly reason: string }) {
  return (
    <Paper withBorder role="alert">
      <Empty title="Not found">{reason}</Empty>
    </Paper>
  );
}

function UpdatedNotice() {
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
