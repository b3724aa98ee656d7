import { Group, Paper, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import type { RequestRecord } from '../../../api/client.ts';
import { CopyChip } from '../../../ui/copy-chip.tsx';
import { RequestLinks } from '../../../ui/external-links.tsx';
import { LocalTime } from '../../../ui/relative-time.tsx';
import { AttemptTimeline } from '../attempt-timeline.tsx';
import { RecordedRoute } from '../record-links.tsx';
import { useUpstreamUrls } from '../recorded-service.ts';
import { RequestFacts } from '../request-facts.tsx';
import { TimeAccount } from '../time-account.tsx';
import { RequestActions } from './request-actions.tsx';
import classes from './request-view.module.css';
import { VerdictBanner } from './verdict-banner.tsx';

interface RequestViewProps {
  readonly record: RequestRecord;
  /** Whether it stands beside a list, with less room. */
  readonly narrow?: boolean;
}

/** What happened to a request, the verdict first. */
export function RequestView({ record, narrow = false }: RequestViewProps) {
  const urls = useUpstreamUrls(record);
  return (
    <Stack gap="md">
      <Group gap="xs" className={classes.about ?? ''}>
        <CopyChip text={record.id} what="the id" />
        <Text span size="sm" c="dimmed">
          <LocalTime at={record.received_at} />
        </Text>
        {record.route !== null && (
          <span className={classes.route}>
            <RecordedRoute record={record} />
          </span>
        )}
      </Group>
      <VerdictBanner record={record} urls={urls} narrow={narrow} />
      <Group justify="space-between" gap="xs">
        <RequestActions record={record} narrow={narrow} />
        <RequestLinks record={record} />
      </Group>
      <Paper withBorder p="sm">
        <TimeAccount record={record} />
      </Paper>
      <Attempts record={record} urls={urls} />
      <RequestFacts record={record} narrow={narrow} />
    </Stack>
  );
}

interface AttemptsProps {
  readonly record: RequestRecord;
  readonly urls: ReadonlyMap<string, string>;
}

function Attempts({ record, urls }: AttemptsProps) {
  const heading = useId();
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={heading}>
      <h2 id={heading} className={classes.heading}>
        Attempts
      </h2>
      {record.attempts.length === 0 ? (
        <Text size="sm" c="dimmed">
          The request was not sent to an upstream.
        </Text>
      ) : (
        <AttemptTimeline record={record} urls={urls} />
      )}
    </Paper>
  );
}
