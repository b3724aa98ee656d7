import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useId } from 'react';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import type { RequestRecord } from '../../api/client.ts';
import { LongText } from '../../ui/long-text.tsx';
import { Loading } from '../../ui/loading.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { msText } from '../../ui/ms-text.ts';
import { Page } from '../../ui/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { AttemptTimeline } from './attempt-timeline.tsx';
import { RequestEnd } from './request-end.tsx';
import { RequestFacts } from './request-facts.tsx';
import { requestQuery } from './requests-query.ts';
import { stageText } from './stage-text.ts';
import { TimeAccount } from './time-account.tsx';
import { useUpstreamUrls } from './recorded-service.ts';

const page = getRouteApi('/app/requests/$id');

/** What happened to one request. */
export function RequestPage() {
  const { id } = page.useParams();
  const { data, error, refetch } = useQuery(requestQuery(id));
  useFollowEnvironment(data?.environment);
  return (
    <Page title={`Request ${id}`} actions={<TextLink to="/requests">All requests</TextLink>}>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <RequestDetails record={data} />}
    </Page>
  );
}

function RequestDetails({ record }: { readonly record: RequestRecord }) {
  const { method, path, timing, error_stage: stage } = record;
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <Stack gap="xs">
          <Text fw={600}>
            {method} <LongText text={path} what="path" />
          </Text>
          <Group gap="md">
            <RequestEnd record={record} />
            <Text size="sm" c="dimmed">
              {msText(timing.total_ms)} in total
            </Text>
          </Group>
          <TimeAccount record={record} />
          {stage !== null && (
            <Text size="sm">
              {record.attempts.length === 0 ? 'Refused at the stage ' : 'Failed at the stage '}
              {stageText(stage)}
            </Text>
          )}
        </Stack>
      </Paper>
      <Attempts record={record} />
      <RequestFacts record={record} />
    </Stack>
  );
}

function Attempts({ record }: { readonly record: RequestRecord }) {
  const heading = useId();
  const urls = useUpstreamUrls(record);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={heading}>
      <Title order={2} size="h4" id={heading} mb="sm">
        Attempts
      </Title>
      {record.attempts.length === 0 ? (
        <Text size="sm">The request was not sent to an upstream.</Text>
      ) : (
        <AttemptTimeline record={record} urls={urls} />
      )}
    </Paper>
  );
}
