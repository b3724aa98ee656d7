import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { ConfigDifference } from '../../api/client.ts';
import { RevertButton } from '../../ui/diff/revert-button.tsx';
import { ResourceDiff } from '../../ui/diff/resource-diff.tsx';
import { FoldButton } from '../../ui/fold-button.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { differencesQuery } from './versions-query.ts';
import classes from './versions.module.css';

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
      <Paper withBorder>
        {differences.map((one) => (
          <DifferenceRow key={one.resource_id} difference={one} canRevert={canRevert} />
        ))}
      </Paper>
      {error !== null && <LoadError error={error} onRetry={() => void fetchNextPage()} />}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Stack>
  );
}

interface DifferenceRowProps {
  readonly difference: ConfigDifference;
  readonly canRevert: boolean;
}

/** A service or a route with its fields, which can be folded: a whole resource has many, and most have their defaults. */
function DifferenceRow({ difference, canRevert }: DifferenceRowProps) {
  const { resource_type: type, name, change, before, after } = difference;
  const [isOpen, fields] = useDisclosure(change === 'changed');
  const id = useId();
  return (
    <article className={classes.difference} aria-label={`${type} ${name} ${change}`}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <FoldButton isOpen={isOpen} onToggle={fields.toggle} controls={id}>
          <span>
            {type} <span className={classes.name}>{name}</span>
          </span>
          <StatusBadge status={change} />
        </FoldButton>
        {canRevert && <RevertButton change={difference} />}
      </Group>
      <div id={id} className={classes.fields} hidden={!isOpen}>
        {isOpen && <ResourceDiff before={before} after={after} />}
      </div>
    </article>
  );
}
