import {
  Code,
  CopyButton,
  Button,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { LocalTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import classes from './request-facts.module.css';
import { keyText } from './stage-text.ts';
import { useRecordedService } from './upstream-urls.ts';

type Facts = readonly (readonly [name: string, value: ReactNode])[];

/** All else that the record says, with links to what took part. */
export function RequestFacts({ record }: { readonly record: RequestRecord }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <FactList title="Target" facts={useTargetFacts(record)} />
      <FactList title="Served by" facts={serverFacts(record)} />
      <FactList title="Quota and idempotency" facts={policyFacts(record)} />
      <FactList title="Caller" facts={callerFacts(record)} />
    </SimpleGrid>
  );
}

function FactList({ title, facts }: { readonly title: string; readonly facts: Facts }) {
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        <dl className={classes.facts}>
          {facts.map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value ?? <None />}</dd>
            </Fragment>
          ))}
        </dl>
      </Stack>
    </Paper>
  );
}

function None() {
  return (
    <Text span inherit c="dimmed">
      none
    </Text>
  );
}

function useTargetFacts(record: RequestRecord): Facts {
  const service = useRecordedService(record);
  const { environment, route, route_version, service_id, upstream } = record;
  return [
    ['Environment', environment],
    [
      'Route',
      route === null ? null : (
        <TextLink to="/routes" search={{ search: route, ...inEnvironment(record) }} inherit>
          {route}
        </TextLink>
      ),
    ],
    ['Version', route_version],
    [
      'Service',
      service_id === null ? null : (
        <TextLink to="/services" search={inEnvironment(record)} inherit>
          {service?.name ?? service_id}
        </TextLink>
      ),
    ],
    ['Upstream', upstream?.url],
    ['Region', upstream?.region],
  ];
}

function serverFacts(record: RequestRecord): Facts {
  const { data_plane, config_version, trace_id, received_at, expires_at } = record;
  return [
    [
      'Data plane',
      <TextLink key="link" to="/data-planes" search={inEnvironment(record)} inherit>
        {data_plane}
      </TextLink>,
    ],
    ['Configuration', config_version === null ? null : `version ${config_version}`],
    ['Trace id', <Copied key="trace" text={trace_id} />],
    ['Arrived', <LocalTime key="arrived" at={received_at} />],
    ['Kept until', <LocalTime key="kept" at={expires_at} />],
  ];
}

function policyFacts({ rate_limit: quota, idempotency, retry_count }: RequestRecord): Facts {
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

function callerFacts(record: RequestRecord): Facts {
  const { token_id, subject, claims, client_ip, client_request_id } = record;
  const { request_bytes, response_bytes } = record;
  return [
    ['Token', token_id],
    ...(subject === null ? [] : [['Subject', subject] as const]),
    ...(claims === null
      ? []
      : [['Claims', <Code key="claims">{JSON.stringify(claims)}</Code>] as const]),
    ['Address', client_ip],
    ['Own request id', client_request_id],
    [
      'Bodies',
      `${request_bytes.toLocaleString()} bytes in, ${response_bytes.toLocaleString()} bytes out`,
    ],
  ];
}

/** Pages that a record leads to show the environment of the record. */
function inEnvironment({ environment }: Pick<RequestRecord, 'environment'>) {
  return environment === null ? {} : { environment };
}

function Copied({ text }: { readonly text: string }) {
  return (
    <Group gap="xs">
      <Code>{text}</Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
