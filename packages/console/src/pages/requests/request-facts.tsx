import { Code, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { LocalTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import {
  environmentOf,
  RecordedConfiguration,
  RecordedRoute,
  RecordedService,
  RecordedToken,
  RecordedUpstream,
} from './record-links.tsx';
import { keyText } from './stage-text.ts';

type NamedFacts = readonly (readonly [name: string, value: ReactNode])[];

/** All else that the record says, with links to what took part. */
export function RequestFacts({ record }: { readonly record: RequestRecord }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <FactList title="Target" facts={targetFacts(record)} />
      <FactList title="Served by" facts={serverFacts(record)} />
      <FactList title="Quota and idempotency" facts={policyFacts(record)} />
      <FactList title="Caller" facts={callerFacts(record)} />
    </SimpleGrid>
  );
}

function FactList({ title, facts }: { readonly title: string; readonly facts: NamedFacts }) {
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Facts facts={facts.map(([name, value]) => [name, value ?? NONE])} />
      </Stack>
    </Paper>
  );
}

const NONE = (
  <Text span inherit c="dimmed">
    none
  </Text>
);

function targetFacts(record: RequestRecord): NamedFacts {
  const { environment, route, service_id, upstream, upstream_request_id: upstreamId } = record;
  const { kind, parent_id: parent, policies } = record;
  return [
    ...(kind === 'request' ? [] : [['Kind', kind] as const]),
    ...(parent === null
      ? []
      : [
          [
            'Copy of',
            <TextLink key="parent" to="/requests/$id" params={{ id: parent }} inherit>
              {parent}
            </TextLink>,
          ] as const,
        ]),
    ['Environment', environment],
    ['Route', route && <RecordedRoute record={record} />],
    ...(record.match === null ? [] : [['Reached by', record.match] as const]),
    ['Service', service_id && <RecordedService record={record} />],
    ['Upstream', upstream && <RecordedUpstream record={record} />],
    ...(policies === null ? [] : [['Policies', policies.join(', ')] as const]),
    ...(upstreamId === null ? [] : [['Its request id', upstreamId] as const]),
  ];
}

function serverFacts(record: RequestRecord): NamedFacts {
  const { data_plane, config_version, trace_id, received_at, expires_at } = record;
  return [
    [
      'Data plane',
      <TextLink key="link" to="/data-planes" search={environmentOf(record)} inherit>
        {data_plane}
      </TextLink>,
    ],
    ['Configuration', config_version && <RecordedConfiguration record={record} />],
    [
      'Trace id',
      <Group key="trace" gap="xs">
        <Code>{trace_id}</Code>
        <CopyButton text={trace_id} what="the trace id" size="compact-xs" />
      </Group>,
    ],
    ['Arrived', <LocalTime key="arrived" at={received_at} />],
    ['Kept until', <LocalTime key="kept" at={expires_at} />],
  ];
}

function policyFacts(record: RequestRecord): NamedFacts {
  const { rate_limit: quota, idempotency, retry_count } = record;
  const left = (count: number) => count.toLocaleString();
  return [
    [
      'Quota',
      quota &&
        `${left(quota.remaining)} of ${left(quota.limit)} left; the window ended ${quota.reset_seconds} s later`,
    ],
    ['Idempotency key', idempotency === null ? null : keyText(idempotency)],
    ['Retries', String(retry_count)],
  ];
}

function callerFacts(record: RequestRecord): NamedFacts {
  const { token_id: token, subject, claims, client_ip, client_request_id } = record;
  const { host, header_names } = record;
  const { request_bytes: bytesIn, response_bytes: bytesOut } = record;
  return [
    ['Token', token === null ? null : <RecordedToken key="token" record={record} token={token} />],
    ...(subject === null ? [] : [['Subject', visibleText(subject)] as const]),
    ...(claims === null
      ? []
      : [['Claims', <Code key="claims">{visibleText(JSON.stringify(claims))}</Code>] as const]),
    ['Address', client_ip],
    ['Own request id', client_request_id],
    ['Host', host === null ? null : visibleText(host)],
    ['Header names', header_names === null ? null : visibleText(header_names.join(', '))],
    ['Bodies', `${bytesIn.toLocaleString()} bytes in, ${bytesOut.toLocaleString()} bytes out`],
  ];
}
