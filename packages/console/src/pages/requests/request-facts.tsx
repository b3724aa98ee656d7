import { Code, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { Facts } from '../../ui/facts.tsx';
import { LocalTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { bytesText } from '../../ui/bytes-text.ts';
import { CopyChip } from '../../ui/copy-chip.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { msText } from '../../ui/ms-text.ts';
import { visibleText } from '../../ui/visible-text.ts';
import {
  environmentOf,
  RecordedConfiguration,
  RecordedRoute,
  RecordedService,
  RecordedToken,
  RecordedUpstream,
} from './record-links.tsx';
import classes from './request-facts.module.css';
import { keyText, stageText } from './stage-text.ts';
import { isOfFailures } from './verdict/refusals.ts';

type NamedFacts = readonly (readonly [name: string, value: ReactNode])[];

interface RequestFactsProps {
  readonly record: RequestRecord;
  /** Whether there is room for one column only. */
  readonly narrow: boolean;
}

/** All else that the record says, with links to what took part. */
export function RequestFacts({ record, narrow }: RequestFactsProps) {
  return (
    <SimpleGrid cols={{ base: 1, md: narrow ? 1 : 2 }} spacing="md">
      <Stack gap="md">
        <FactList title="Target" facts={targetFacts(record)} />
        <FactList title="Quota and idempotency" facts={policyFacts(record)} />
      </Stack>
      <Stack gap="md">
        <FactList title="Served by" facts={serverFacts(record)} />
        <FactList title="Caller" facts={callerFacts(record)} />
      </Stack>
    </SimpleGrid>
  );
}

function FactList({ title, facts }: { readonly title: string; readonly facts: NamedFacts }) {
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Title order={2}>{title}</Title>
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
  const { kind, parent_id: parent, policies, error_stage: stage } = record;
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
    ['Outcome', record.outcome === 'success' ? 'answered' : record.outcome.replaceAll('_', ' ')],
    ...(stage === null ? [] : [['Ended at', stageText(stage)] as const]),
    ['Environment', environment],
    [
      'Path',
      <span key="path" className={classes.mono}>
        {record.method} <LongText text={record.path} what="path" />
      </span>,
    ],
    ['Route', route && <RecordedRoute record={record} />],
    ...(record.match === null ? [] : [['Reached by', record.match] as const]),
    ['Service', service_id && <RecordedService record={record} />],
    ['Upstream', upstream && <RecordedUpstream record={record} />],
    ...(policies === null ? [] : [['Policies', policies.join(', ')] as const]),
    ...(upstreamId === null
      ? []
      : [
          [
            'X-Request-Id of the upstream',
            <CopyChip key="theirs" text={upstreamId} what="the id" isPlain />,
          ] as const,
        ]),
  ];
}

function serverFacts(record: RequestRecord): NamedFacts {
  const { data_plane, config_version, trace_id, received_at, expires_at } = record;
  return [
    [
      'Data plane',
      <TextLink
        key="link"
        to="/data-planes/$dataPlaneId"
        params={{ dataPlaneId: data_plane }}
        search={environmentOf(record)}
        inherit
      >
        {data_plane}
      </TextLink>,
    ],
    ['Configuration', config_version && <RecordedConfiguration record={record} />],
    ['Trace id', <CopyChip key="trace" text={trace_id} what="the trace id" isPlain />],
    ['Arrived', <LocalTime key="arrived" at={received_at} />],
    ['Kept until', <LocalTime key="kept" at={expires_at} />],
  ];
}

function policyFacts(record: RequestRecord): NamedFacts {
  const { rate_limit: quota, idempotency, retry_count } = record;
  const left = (count: number) => count.toLocaleString('en');
  return [
    [
      limitName(record),
      quota &&
        `${left(quota.remaining)} of ${left(quota.limit)} left; the window ended ${msText(quota.reset_seconds * 1000)} later`,
    ],
    ['Idempotency key', idempotency === null ? null : keyText(idempotency)],
    ['Retries', String(retry_count)],
  ];
}

/** A refused credential, and a preflight, counts against a limit of the data plane, not against the quota of the route. */
function limitName(record: RequestRecord): string {
  if (record.kind === 'preflight') return 'Preflights of its address';
  return isOfFailures(record) ? 'Failed authentications of its address' : 'Quota';
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
    ['X-Request-Id it sent', client_request_id],
    ['Host', host === null ? null : visibleText(host)],
    [
      'Header names',
      header_names && (
        <span key="names" className={classes.mono}>
          {visibleText(header_names.join(', '))}
        </span>
      ),
    ],
    ['Bodies', `${bytesText(bytesIn)} in, ${bytesText(bytesOut)} out`],
  ];
}
