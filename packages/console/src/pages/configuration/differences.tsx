import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ConfigDifference } from '../../api/client.ts';
import { RevertButton } from '../../ui/diff/revert-button.tsx';
import { ResourceDiff } from '../../ui/diff/resource-diff.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { differencesQuery } from './versions-query.ts';

interface DifferencesProps {
  readonly environment: string;
  readonly from: number;
  readonly to: number;
  /** Whether each is a change that may be reverted, and not the preview of one. */
  readonly canRevert?: boolean;
}

/** The services and routes that differ from one version to another, each with its fields. */
export function Differences({ environment, from, to, canRevert = false }: DifferencesProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    differencesQuery(environment, from, to),
  );
  if (data === undefined) {
    if (error !== null) return <LoadError error={error} onRetry={() => void refetch()} />;
    return <Skeleton height={120} />;
  }
  const differences = data.pages.flatMap((page) => page.data);
  if (differences.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No service and no route differs. Changes of tokens are versions too, and are not shown here.
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {differences.map((one) => (
        <DifferenceCard key={one.resource_id} difference={one} canRevert={canRevert} />
      ))}
      {error !== null && <LoadError error={error} onRetry={() => void fetchNextPage()} />}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Stack>
  );
}

interface DifferenceCardProps {
  readonly difference: ConfigDifference;
  readonly canRevert: boolean;
}

function DifferenceCard({ difference, canRevert }: DifferenceCardProps) {
  const { resource_type: type, name, change, before, after } = difference;
  return (
    <Paper withBorder p="md" component="article" aria-label={`${type} ${name} ${change}`}>
      <Group gap="xs" mb="xs">
        <Text size="sm">
          {type === 'service' ? 'Service' : 'Route'} <strong>{name}</strong>
        </Text>
        <StatusBadge status={change} />
        {canRevert && <RevertButton change={difference} />}
      </Group>
      {before !== null && after !== null ? (
        <ResourceDiff before={before} after={after} />
      ) : (
        // A whole resource has many fields, and most have their defaults.
        <Text component="details" size="sm">
          <summary>All fields</summary>
          <ResourceDiff before={before} after={after} />
        </Text>
      )}
    </Paper>
  );
}
